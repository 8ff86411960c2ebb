/*
 * day_query: claim_rows.sql with the days of the log at hand in it, so that it stays prepared, and its plan has these
 * partitions alone. Nearly all claims are of the day that is today, and of the one before just after midnight. What is
 * of other days is claimed without its changes; the caller reads them, and teaches their days.
 */
#ifndef ROWRELAY_QUEUE_DAY_QUERY_H
#define ROWRELAY_QUEUE_DAY_QUERY_H

#include <libpq-fe.h>

#include "postgres/pgconn.h"

#define DAY_QUERY_DAYS 3 /* at most */

struct day_query {
  struct query query; /* as it is to be run; its name tells the days */
  char *text;
  char name[64];
};

/* Without days. */
void day_query_init(struct day_query *days);
void day_query_release(struct day_query *days);

/*
 * Puts in the days of claimed rows, the newest if they are too many. The connection forgets the statement that it was.
 * Without memory it stays without days.
 */
void day_query_learn(struct day_query *days, struct pgconn *connection, const PGresult *rows);

#endif
