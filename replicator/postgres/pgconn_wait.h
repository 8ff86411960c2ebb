/*
 * pgconn_wait: what the parts of pgconn share: opening a connection (pgconn.c), running statements on it
 * (pgconn_statement.c), and sending large ones (pgconn_large.c). Private to them.
 */
#ifndef ROWRELAY_POSTGRES_PGCONN_WAIT_H
#define ROWRELAY_POSTGRES_PGCONN_WAIT_H

#include "common/buffer.h"
#include "postgres/notices.h"
#include "postgres/pgconn.h"

struct pgconn {
  PGconn *pg;
  int64_t deadline; /* clock_now() at which calls fail; 0: never */
  bool broken;      /* a reply was abandoned, or the server ended the session, so nothing more can be run */
  char ending[128]; /* why the server ended it */
  const struct notice_reader *notice_reader; /* NULL: nobody reads them */
  struct notices notices;                    /* of the transaction so far */
  char **prepared;                           /* names of the statements that this connection has */
  size_t prepared_count;
  unsigned int names_made;
  size_t prepared_capacity;
  struct buffer forgotten; /* DEALLOCATE statements for those no longer needed */
  /* one entry for each reply that a pipeline waits for */
  struct {
    const struct query *query;
    bool prepares;
    bool *any_rows; /* becomes true when it gives one; NULL: nobody asks */
    int topic;
  } * expected;
  size_t expected_count;
  size_t expected_capacity;
  int topic;                   /* of what is added to the pipeline; 0: none */
  int failed_topic;            /* of the statement with which the last pipeline failed */
  size_t unsent;               /* bytes of values in this pipeline that may not have been sent yet */
  bool pipeline_failed;        /* something could not be sent */
  struct error pipeline_error; /* why */
  char description[256];
  struct pgconn_violation violation;
};

/* Marks the connection as unusable: an answer that still arrives could not be matched. Always false. */
bool pgconn_break(struct pgconn *connection, enum failure kind, struct error *error, const char *message);

/* Cancels the statement at the server, and breaks the connection. Always false. */
bool pgconn_leave(struct pgconn *connection, struct error *error);

/* Waits until the socket can be read (or written, if asked for). `deadline` is a clock_now(), 0: none. */
MUST_CHECK bool pgconn_wait_socket(struct pgconn *connection, short events, int64_t deadline, struct error *error);

/* Asks a server to end a statement; takes a second at most. Frees `cancel`, which may be NULL. */
void pgconn_send_cancel(PGcancel *cancel);

/* Sends a statement; false: libpq says why. */
struct pgconn_sender {
  bool (*send)(struct pgconn *connection, void *context);
  void *context;
};
/*
 * Lets `sender` send a statement with large values, in time that grows with them and no faster; by the deadline, and
 * until interrupted. Nothing may be left to be sent before.
 */
MUST_CHECK bool pgconn_send_large(struct pgconn *connection, const struct pgconn_sender *sender, struct error *error);

#endif
