/*
 * settings: what the source says of one target: where it is, and how it is to be treated.
 */
#ifndef ROWRELAY_SOURCE_SETTINGS_H
#define ROWRELAY_SOURCE_SETTINGS_H

#include <libpq-fe.h>
#include <stdint.h>

#include "common/error.h"
#include "source/lanes.h"

/* What becomes of later changes of a row of which one was refused. */
enum on_error {
  ON_ERROR_PARK,  /* they go on */
  ON_ERROR_BLOCK, /* they wait until it is retried or skipped */
  ON_ERROR_HALT   /* the target stops */
};

struct settings {
  int target;
  int version; /* grows with every change of what stands here */
  char name[128];
  char url[2048]; /* with ${NAME} as it was written */
  bool running;   /* neither paused nor halted */
  bool failing;   /* a push failed, of whatever process: one at a time tries whether it works again */
  bool holds;     /* it cannot take some of its tables at present; see hold.h */
  struct lanes lanes;
  bool document;     /* what is claimed are documents to be built; see document.h */
  bool leased;       /* a claim is committed, and its lanes are under a lease while they are pushed; see lease.h */
  int64_t lease;     /* how long one is, in milliseconds */
  bool at_most_once; /* what may have been sent is never sent again; implies leased */
  bool append;       /* keeps every change, rather than rows as they are now */
  enum on_error on_error;
  int batch_rows;
  int64_t batch_bytes;
  int retries;          /* tries after the first before a change counts as refused */
  int64_t push_timeout; /* milliseconds */
  int64_t floor;        /* where to begin to look; see floor.h */
  char options[40960];  /* all of them as a JSON object, for what only one kind of target has */
  char source_id[40];
  int workers; /* of all living processes together that serve it */
  char reason[512];
};

/* Reads row `row` of the reply to target_settings.sql. */
MUST_CHECK bool settings_read(struct settings *settings, const PGresult *reply, int row, struct error *error);

#endif
