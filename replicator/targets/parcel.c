#include "targets/parcel.h"

#include <string.h>

#include "postgres/number.h"
#include "targets/fence.h"

/* Rows are sent in pieces of this size; a larger row is sent alone. Bytes. */
#define PIECE ((size_t)1024 * 1024)
#define ROWS_LIMIT ((size_t)1024 * 1024 * 1024)

void parcel_init(struct parcel *parcel, struct pgconn *connection, const struct push *push, const char *source_id,
                 struct origin *origin) {
  *parcel = (struct parcel){.connection = connection, .push = push, .source_id = source_id, .origin = origin};
  buffer_init(&parcel->rows, ROWS_LIMIT);
}

void parcel_release(struct parcel *parcel) {
  buffer_release(&parcel->rows);
}

/* What was not found is told with the first change: it is of the same table as the others. */
void parcel_send(struct parcel *parcel) {
  if (buffer_is_empty(&parcel->rows))
    return;
  const struct change *change = parcel->push->changes[parcel->first];
  const struct number count = number((int64_t)parcel->count);
  const struct number lane = number(fence_unfound_lane(change->lane));
  const struct number id = number(change->id);
  const struct number first_id = number(parcel->push->first_id);
  buffer_add(&parcel->rows, "]", 1);
  origin_add(parcel->origin, parcel->connection, change);
  pgconn_pipeline_needs(parcel->connection, &parcel->rows, "rows of a statement");
  struct values values = VALUES(parcel->rows.data, count.text, parcel->source_id, lane.text, id.text, first_id.text);
  values.count = parcel->statement->takes;
  pgconn_pipeline_topic(parcel->connection, change->capture);
  pgconn_pipeline_add(parcel->connection, &parcel->statement->query, values);
  if (parcel->statement->takes > 1)
    pgconn_pipeline_tell_rows(parcel->connection, &parcel->push->verdicts[parcel->first].unfound);
  pgconn_pipeline_topic(parcel->connection, 0);
  buffer_clear(&parcel->rows);
}

void parcel_add(struct parcel *parcel, const struct parcel_statement *statement, size_t index, const char *row) {
  size_t length = strlen(row);
  const struct change *const *changes = parcel->push->changes;
  if (!buffer_is_empty(&parcel->rows) && (parcel->statement != statement || parcel->rows.length + length > PIECE ||
                                          !origin_is_same(changes[parcel->first], changes[index])))
    parcel_send(parcel);
  if (buffer_is_empty(&parcel->rows)) {
    parcel->first = index;
    parcel->count = 0;
  }
  parcel->statement = statement;
  parcel->count++;
  buffer_add(&parcel->rows, parcel->rows.length == 0 ? "[" : ",", 1);
  buffer_add(&parcel->rows, row, length);
}
