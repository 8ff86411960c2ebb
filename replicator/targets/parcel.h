/*
 * parcel: rows collected for one statement of a mirror, which are sent together, so that neither side holds much at
 * once.
 */
#ifndef ROWRELAY_TARGETS_PARCEL_H
#define ROWRELAY_TARGETS_PARCEL_H

#include "postgres/pgconn.h"
#include "targets/origin.h"
#include "targets/target.h"

/*
 * Takes an array of rows. One that deletes rows by their whole value gives a row if it did not find all of them, and
 * leaves that in the fence where there is one; see mirror_statements.sql.
 */
struct parcel_statement {
  struct query query;
  int takes; /* how many values: 1, the rows; 2, also how many; 6, also what the fence is to be told */
};

struct parcel {
  struct pgconn *connection;
  const struct push *push;
  const char *source_id; /* NULL: there is no fence */
  struct origin *origin; /* borrowed */
  const struct parcel_statement *statement;
  struct buffer rows;
  size_t count; /* of rows */
  size_t first; /* whose row is the first, in the push */
};

void parcel_init(struct parcel *parcel, struct pgconn *connection, const struct push *push, const char *source_id,
                 struct origin *origin);
void parcel_release(struct parcel *parcel);

/* Adds the row of change `index` of the push; sends what was collected first if that was for another
 * statement, or has another path. */
void parcel_add(struct parcel *parcel, const struct parcel_statement *statement, size_t index, const char *row);

/* Adds the statement to the open pipeline, with what was collected. */
void parcel_send(struct parcel *parcel);

#endif
