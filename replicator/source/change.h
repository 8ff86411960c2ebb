/*
 * change: the changes of one claim, in order of their ids, as the source's reply holds them.
 */
#ifndef ROWRELAY_SOURCE_CHANGE_H
#define ROWRELAY_SOURCE_CHANGE_H

#include <libpq-fe.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "source/route.h"

/* Of rowrelay.change.op */
enum operation {
  OPERATION_INSERT = 'i',
  OPERATION_UPDATE = 'u',
  OPERATION_DELETE = 'd',
  OPERATION_TRUNCATE = 't',
  OPERATION_SNAPSHOT = 's',
  OPERATION_REFRESH = 'r', /* of documents; the new row is a JSON array of their keys */
  OPERATION_BARRIER = 'b'  /* of no row; everything before it is delivered before anything after it */
};

/* One captured change. All texts are borrowed from the batch; NULL where the source has null. */
struct change {
  int64_t id;
  int lane;
  const char *day;
  int64_t bytes;
  int capture;
  enum operation operation;
  const char *key;
  bool has_hash;       /* equal keys of such types may have different texts, so rows are compared by hash */
  int64_t hash;        /* see row_identity.h */
  const char *old_row; /* JSON objects */
  const char *new_row;
  const char *text_columns; /* JSON array of names */
  const char *problem;
  const char *captured_at; /* these three only if the claim asked for them */
  const char *txid;
  const char *actor;
  const char *traceparent; /* of the application's transaction, in the form of a traceparent of version 00 */
  const char *path;        /* captured tables that it has passed before it came here, with blanks between them */
  int64_t age;             /* microseconds until it was read, see rowrelay.change_age(); -1: not measured */
  const char *expansion;   /* if it makes documents stale: "query", "all", see claim_documents.sql */
  const struct route *route;
};

/*
 * Whether no key identifies its row: the table has none, or had none when the change was captured, or had lost it.
 */
bool change_is_keyless(const struct change *change);

/* Whether its row is unknown, so that a refused one blocks all such changes of its table. */
bool change_is_of_any_row(const struct change *change);

/* What the source returns about the claim itself; see queue/sql/claim_token.sql. */
struct claim_receipt {
  int64_t token;
  char claimed_at[40]; /* a timestamptz in ISO style, of 35 characters at most */
  char process_id[40]; /* of the lease, a uuid of 36; "": there is none */
  int deaths;          /* how often a process died with the only change of this batch, and no other */
  int failures;        /* how often the process that leased one of the lanes has died since one was settled */
  bool has_refusals;   /* the target has refused changes that are neither retried nor skipped */
};

/* Changes of a table that wait until the target can take them; see hold.h. */
struct hold {
  int capture;
  int64_t released_to; /* those up to this id are released */
};

struct batch {
  struct change *changes;
  size_t count;
  size_t capacity;
  int *lanes; /* it was claimed from, ascending */
  size_t lane_count;
  int64_t first_id;        /* everything older in these lanes is settled */
  int64_t first_elsewhere; /* the oldest that waited in lanes of others when it was claimed; INT64_MAX: none */
  int64_t read_at;         /* clock_microseconds() */
  struct claim_receipt receipt;
  struct hold *holds; /* as they were when the lanes had been locked */
  size_t hold_count;
  PGresult *rows;   /* own the changes' texts: the queue's part */
  PGresult *logged; /* and the log's */
};

void batch_init(struct batch *batch);
void batch_release(struct batch *batch);
/* Forgets the changes; keeps the memory for some. */
void batch_clear(struct batch *batch);

/*
 * Reads the replies to claim_chosen.sql and claim_changes.sql, or to others with the same columns, whose lines belong
 * together; claim_rows.sql has both in one. The batch then owns them. The routes are the caller's.
 */
MUST_CHECK bool batch_read(struct batch *batch, PGresult *rows, PGresult *logged, const struct routes *routes,
                           struct error *error);

/*
 * Whether both are changes of the same row (of the same table, if it has no key). Keys compared by hash may
 * collide, so this may keep changes in order, but must not drop one.
 */
bool change_same_row(const struct change *a, const struct change *b);

#endif
