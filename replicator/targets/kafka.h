/* kafka: what an open Kafka target consists of. */
#ifndef ROWRELAY_TARGETS_KAFKA_H
#define ROWRELAY_TARGETS_KAFKA_H

#include "targets/envelope.h"
#include "targets/target.h"

struct kafka_producer;

struct kafka {
  const struct settings *settings;
  struct source *source;
  struct target_values values;
  char *brokers;
  char *topic;    /* with {table} in it, or not */
  bool per_table; /* each table has a topic of its own */
  bool tombstones;
  bool whole_transactions; /* are told of */
  struct envelope envelope;
  struct kafka_producer *producer; /* NULL: the next push makes one */
};

/* See struct target_kind. */
bool kafka_push(void *handle, const struct push *push, struct error *error);

#endif
