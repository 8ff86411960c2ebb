/*
 * copy_stream: passes rows from one COPY to another, holding only a few at a time.
 */
#ifndef ROWRELAY_POSTGRES_COPY_STREAM_H
#define ROWRELAY_POSTGRES_COPY_STREAM_H

#include <stdint.h>

#include "postgres/pgconn.h"

struct copy_stream {
  struct pgconn *from;
  const char *from_statement;
  struct pgconn *to;
  const char *to_statement;
  int64_t rate;    /* rows per second at most; 0: any */
  int64_t timeout; /* milliseconds in which `to` must take a piece */
  /* Called several times a second; false, with an error, ends it. */
  bool (*tell)(void *context, int64_t rows, struct error *error);
  void *context;
  int64_t rows;      /* so far */
  bool failed_there; /* `to` failed, not `from` */
};

/* Both transactions stay open. After a failure neither connection is of use. */
MUST_CHECK bool copy_stream_run(struct copy_stream *stream, struct error *error);

#endif
