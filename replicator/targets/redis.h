/* redis: what an open Redis target consists of. */
#ifndef ROWRELAY_TARGETS_REDIS_H
#define ROWRELAY_TARGETS_REDIS_H

#include "http/address.h"
#include "targets/envelope.h"
#include "targets/target.h"

struct redis_session;

struct redis {
  const struct settings *settings;
  struct source *source;
  struct target_values values;
  struct envelope envelope;
  struct address address;
  char *stream;                  /* with {table} in it, or not */
  bool per_table;                /* each table has a stream of its own */
  int database;                  /* number of the logical database */
  int64_t replicas;              /* that must have a batch */
  int64_t maxlen;                /* about how many entries a stream keeps; 0: all */
  struct redis_session *session; /* NULL: the next push makes one */
};

/* See struct target_kind. */
bool redis_push(void *handle, const struct push *push, struct error *error);

#endif
