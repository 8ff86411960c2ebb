/*
 * metrics: counts what this process has done for each target; any thread may add to them and read them at any time.
 * They begin at zero with the process, as Prometheus expects.
 */
#ifndef ROWRELAY_COMMON_METRICS_H
#define ROWRELAY_COMMON_METRICS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/buffer.h"

#define HISTOGRAM_BOUNDS 17

/* A distribution of durations. */
struct histogram {
  _Atomic uint64_t counts[HISTOGRAM_BOUNDS + 1]; /* of each bound, those below it are not counted again; last: longer */
  _Atomic uint64_t microseconds;                 /* all together */
};

/* What was done for a table, of a target. */
struct table_meter {
  struct table_meter *next;
  _Atomic uint64_t delivered;
  _Atomic uint64_t refused;
  char table[]; /* its full name */
};

struct meter {
  struct meter *next;
  struct table_meter *_Atomic tables; /* the latest first; they stay */
  _Atomic int workers;
  _Atomic int busy; /* of them, those with a batch in hand */
  _Atomic uint64_t delivered;
  _Atomic uint64_t refused;
  _Atomic uint64_t failures; /* attempts that failed because of the target, and are repeated */
  struct histogram batches;  /* from when a claim was read to its settlement */
  struct histogram pushes;   /* one call of the target */
  struct histogram delays;   /* from the commit of a change, or its capture, to the settlement of its delivery */
  char target[];             /* its name */
};

/* The meter of a target; the same for the same name, and valid until the process ends. NULL: out of memory. */
struct meter *meter_of(const char *target);

/* That of a table, as meter_of(). */
struct table_meter *meter_of_table(struct meter *meter, const char *table);
/* The first of all meters, and of a meter's tables; each leads to the next. */
const struct meter *metrics_first(void);
const struct table_meter *meter_tables(const struct meter *meter);

/* How many changes this process has delivered, and had refused, for all targets together. */
void metrics_totals(unsigned long long *delivered, unsigned long long *refused);

/* From now on measures the delay of each change, which costs the source a little; called when metrics are first read.
 */
void metrics_measure_delays(void);
bool metrics_wants_delays(void);

/* `times` things took so many microseconds each. */
void histogram_add(struct histogram *histogram, int64_t microseconds, uint64_t times);

/* The upper bound of a bucket, in seconds, as text. */
const char *histogram_bound(size_t bucket);

/* Writes all of it in Prometheus' text format. */
void metrics_write(struct buffer *text);

/* Writes a metric's HELP and TYPE lines. */
void metrics_describe(struct buffer *text, const char *name, const char *type, const char *help);
/* A label's value, escaped and quoted. */
void metrics_label(struct buffer *text, const char *value);

#endif
