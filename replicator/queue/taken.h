/*
 * taken: the rows that a claim has got of the queue, and what the log says of them. Part of claim.c.
 */
#ifndef ROWRELAY_QUEUE_TAKEN_H
#define ROWRELAY_QUEUE_TAKEN_H

#include <libpq-fe.h>

#include "queue/claim.h"

/* For the ids and days of what is looked at for a batch, which has 100,000 rows at most. */
#define ROWS_LIMIT ((size_t)8 * 1024 * 1024)

/* One of the two results may be the other. */
struct taken {
  PGresult *rows;    /* of the queue; NULL: none were asked for yet */
  PGresult *logged;  /* what the log says of each; NULL: not read yet */
  bool has_refusals; /* the target has refused some change */
};

/* Frees what no batch has taken over. */
void taken_release(struct taken *taken);

/*
 * Where the rows came together with what the log says of them: whether it was said of all, and then they are complete.
 */
bool taken_is_complete(const struct taken *taken);

/* What is read of the log. */
enum reading { READ_TXIDS, READ_CHANGES };

/* Reads of the log what belongs to the rows. */
MUST_CHECK bool taken_read_log(struct taken *taken, const struct claim *claim, enum reading reading,
                               struct error *error);

#endif
