/*
 * pgconn_wait: what the two halves of pgconn share: what opens a connection (pgconn.c), and what asks something of it
 * (pgconn_statement.c). Of no concern to others.
 */
#ifndef ROWRELAY_POSTGRES_PGCONN_WAIT_H
#define ROWRELAY_POSTGRES_PGCONN_WAIT_H

#include "common/buffer.h"
#include "postgres/pgconn.h"

struct pgconn {
  PGconn *pg;
  int64_t deadline; /* clock_now() at which calls fail; 0: never */
  bool broken;      /* a reply was not waited for, so nothing more can be asked */
  char **prepared;  /* names of the statements that this connection has */
  size_t prepared_count;
  unsigned int names_made;
  size_t prepared_capacity;
  struct buffer forgotten; /* statements that take away others, which nobody needs any more */
  /* one entry for each reply that a pipeline waits for */
  struct {
    const struct query *query;
    bool prepares;
  } * expected;
  size_t expected_count;
  size_t expected_capacity;
  bool pipeline_failed;        /* something could not even be sent; */
  struct error pipeline_error; /* why */
  char description[256];
};

/* The connection is of no use after this: what was asked may still be answered, and nobody would know to what. */
bool pgconn_break(struct pgconn *connection, enum failure kind, struct error *error, const char *message);

/* What nobody waits for any more must not go on at the server. Always false. */
bool pgconn_leave(struct pgconn *connection, struct error *error);

/* Waits until the socket can be read (or written, if asked for). `deadline` is a clock_now(), 0: none. */
MUST_CHECK bool pgconn_wait_socket(struct pgconn *connection, short events, int64_t deadline, struct error *error);

#endif
