/*
 * report: what a comparison found, for people (each difference in a line as it is found, a line for each table)
 * or as one JSON object for programs.
 */
#ifndef ROWRELAY_VERIFY_REPORT_H
#define ROWRELAY_VERIFY_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

enum difference_kind { DIFFERENCE_MISSING, DIFFERENCE_EXTRA, DIFFERENCE_DIFFERENT, DIFFERENCE_KIND_COUNT };

struct difference {
  enum difference_kind kind;
  const char *key;            /* as in the log; without a key the row, shortened */
  const char *const *columns; /* which differ */
  size_t column_count;
  int64_t copies;     /* of equal rows, in a table without a key; else 0 */
  const char *reason; /* the target's message if it has refused a change of the row; else NULL */
  bool has_null;      /* in its key: such a row is never sent */
};

struct report {
  bool json;
  bool progress; /* says on stderr how far it is */
  int64_t limit; /* differences of each table that are shown */
  /* of the table at hand */
  const char *table;
  bool is_shared; /* its place, so that rows are not told to be extra */
  double began;
  int64_t shown;
  int64_t found[DIFFERENCE_KIND_COUNT];
  int64_t rows;      /* at the source */
  int64_t estimate;  /* about how many there are; 0: unknown */
  int64_t said_at;   /* clock_now(), how far it is */
  int64_t undecided; /* a change of them was always in flight */
  int64_t queued;    /* for repair */
  /* of all */
  size_t tables;
  int64_t all_found;
  int64_t all_keyless;     /* of these, rows of tables without a key */
  char keyless_table[256]; /* the first of these tables; "": none */
  bool keyless_is_shared;
  int64_t all_undecided;
  char undecided_tables[1024]; /* which have some */
  int64_t all_queued;
};

/* Of `report` json, progress and limit are set. */
void report_begin(struct report *report, const char *target);
void report_end(struct report *report, int64_t rows_received, int64_t bytes_received);

/* What else there is to say of a comparison; NULL for none. */
struct caveats {
  const char *missing;     /* columns that are not compared */
  const char *coarse;      /* columns whose values are compared as the target has them */
  const char *shared_with; /* another table whose rows are in the same place */
};

/* `table` is borrowed until its end. */
void report_table_begin(struct report *report, const char *table, const struct caveats *caveats);
/* `rows` more have been compared: says so now and then, with progress. */
void report_rows(struct report *report, int64_t rows);
/* `complete`: the comparison was not cut short. */
void report_table_end(struct report *report, bool complete);

/* Instead of both, for a table that cannot be compared. */
void report_not_compared(struct report *report, const char *table, const char *reason);

void report_difference(struct report *report, const struct difference *difference);
/* Whether the row of this key, a JSON array, differs could not be said; NULL: it has none. */
void report_undecided(struct report *report, const char *key);
/* So many of the differences are of rows without a key, which cannot be queued again. */
void report_keyless(struct report *report, int64_t rows);
/* Whether a further difference would be shown. */
bool report_has_room(const struct report *report);

#endif
