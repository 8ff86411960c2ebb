/* nats: what an open NATS target consists of. */
#ifndef ROWRELAY_TARGETS_NATS_H
#define ROWRELAY_TARGETS_NATS_H

#include "http/address.h"
#include "targets/envelope.h"
#include "targets/target.h"

struct nats_session;

struct nats {
  const struct settings *settings;
  struct source *source;
  struct target_values values;
  struct envelope envelope;
  struct address address; /* of the first server */
  char *servers;          /* "HOST:PORT,HOST:PORT" */
  char *token;            /* to log in; NULL: none */
  char *subject;          /* with {table} in it, or not */
  bool per_table;         /* each table has a subject of its own */
  bool tls;
  const char *stream;           /* that takes the messages; NULL: whichever does */
  bool create_stream;           /* make it where it is missing */
  struct nats_session *session; /* NULL: the next push makes one */
};

/* Appends the subject of a table's changes. */
void nats_add_subject(struct buffer *buffer, const char *pattern, const struct route *route);

/* See struct target_kind. */
bool nats_push(void *handle, const struct push *push, struct error *error);

#endif
