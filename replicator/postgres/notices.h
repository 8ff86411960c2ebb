/*
 * notices: warnings and notices of a server, kept until what raised them is known to have succeeded. Who is refused is
 * told why, and not what else would have been so.
 */
#ifndef ROWRELAY_POSTGRES_NOTICES_H
#define ROWRELAY_POSTGRES_NOTICES_H

#include <libpq-fe.h>
#include <stddef.h>

#include "postgres/pgconn.h"

struct kept_notice;

struct notices {
  struct kept_notice *first;
  struct kept_notice **end;
};

void notices_init(struct notices *notices);
/* Drops what is kept. */
void notices_clear(struct notices *notices);

/* Tells it, or keeps it where the reader asks for that; what somebody waits for is told at once. */
void notices_take(struct notices *notices, const struct notice_reader *reader, const PGresult *notice);

/* Tells what was kept, in the order in which it came. */
void notices_tell(struct notices *notices, const struct notice_reader *reader);

#endif
