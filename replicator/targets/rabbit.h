/* rabbit: what an open AMQP target (RabbitMQ) consists of. */
#ifndef ROWRELAY_TARGETS_RABBIT_H
#define ROWRELAY_TARGETS_RABBIT_H

#include "http/address.h"
#include "targets/envelope.h"
#include "targets/target.h"

struct rabbit_session;

struct rabbit {
  const struct settings *settings;
  struct source *source;
  struct target_values values;
  struct envelope envelope;
  struct address address;
  char *virtual_host;
  char *exchange;                 /* "": the default one */
  const char *routing_key;        /* with {table} in it, or not */
  struct rabbit_session *session; /* NULL: the next push makes one */
};

/* See struct target_kind. */
bool rabbit_push(void *handle, const struct push *push, struct error *error);

#endif
