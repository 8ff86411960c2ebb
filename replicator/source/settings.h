/*
 * settings: URL, options and state of one target, as stored in the source.
 *
 * They are on the heap, with texts of any length, and are never changed by another thread than the one that read them:
 * each worker, the supervisor and each command reads its own. What is opened with them borrows them, so it is closed
 * before they are freed.
 */
#ifndef ROWRELAY_SOURCE_SETTINGS_H
#define ROWRELAY_SOURCE_SETTINGS_H

#include <libpq-fe.h>
#include <stdint.h>

#include "common/error.h"
#include "source/lanes.h"
#include "source/source.h"

/* What happens to later changes of a row after one was refused. */
enum on_error {
  ON_ERROR_PARK,  /* they go on */
  ON_ERROR_BLOCK, /* they wait until it is retried or skipped */
  ON_ERROR_HALT   /* the target stops */
};

struct settings {
  int target;
  int version; /* grows with every change of these settings */
  const char *name;
  const char *url; /* with ${NAME} as it was written */
  bool running;    /* neither paused nor halted */
  bool failing;    /* a push of some process failed: one worker at a time probes the target */
  bool holds;      /* some of its tables are held; see hold.h */
  struct lanes lanes;
  bool document;     /* what is claimed are documents to be built; see document.h */
  bool leased;       /* claims are committed, with their lanes leased while they are pushed; see lease.h */
  int64_t lease;     /* duration of a lease; milliseconds */
  bool at_most_once; /* what may have been sent is never sent again; implies leased */
  bool append;       /* keeps every change rather than current rows */
  enum on_error on_error;
  int batch_rows;
  int64_t batch_bytes;
  int retries;           /* attempts after the first, before a change counts as refused */
  int64_t push_timeout;  /* milliseconds */
  int64_t floor;         /* where to begin to search; see floor.h */
  const char *options;   /* all of them, as a JSON object, for kinds of targets that have their own */
  const char *source_id; /* of rowrelay.source */
  int workers;           /* of all live processes together */
  const char *reason;    /* why it is halted; "": it is not */
  bool restored;         /* the database of the source was restored since a process last connected to it */
};

/*
 * Reads those of the target, or document, of this name; the caller frees them. FAILURE_USAGE: there is none, and the
 * error lists the existing ones.
 */
MUST_CHECK bool settings_load(struct settings **settings, struct source *source, const char *name, struct error *error);

/* What target_settings.sql, asked for the number of a target, has replied; NULL: there is none any more. The owner
 * frees them. */
MUST_CHECK bool settings_read(struct settings **settings, const PGresult *reply, struct error *error);

/* Fails, so that who works for the target connects again, if what it knows may be of before a restore. */
MUST_CHECK bool settings_are_of_this_source(const struct settings *settings, struct error *error);

/* NULL is allowed. */
void settings_free(struct settings *settings);

/* Whether transactions arrive as a whole. */
static inline bool settings_keep_transactions(const struct settings *settings) {
  return settings->lanes.count == 2 && !settings->leased;
}

/* Those of several targets. Zeroed, it is empty. */
struct settings_list {
  struct settings **all;
  size_t count;
};

/* Those of the targets in `names`, an array literal, and of the documents that go to them; NULL: of all. */
MUST_CHECK bool settings_list_load(struct settings_list *list, struct source *source, const char *names,
                                   struct error *error);
void settings_list_release(struct settings_list *list);

#endif
