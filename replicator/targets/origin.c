#include "targets/origin.h"

#include <string.h>

#include "queries.h"

void origin_init(struct origin *origin, const char *source_id, bool in_transaction) {
  *origin = (struct origin){.source_id = source_id, .in_transaction = in_transaction};
  buffer_init(&origin->marked, ORIGIN_LIMIT);
  buffer_init(&origin->path, ORIGIN_LIMIT);
}

void origin_release(struct origin *origin) {
  buffer_release(&origin->marked);
  buffer_release(&origin->path);
}

void origin_forget(struct origin *origin) {
  buffer_clear(&origin->marked);
}

bool origin_is_same(const struct change *a, const struct change *b) {
  if (a->capture != b->capture)
    return false;
  return a->path == b->path || (a->path != NULL && b->path != NULL && strcmp(a->path, b->path) == 0);
}

void origin_add(struct origin *origin, struct pgconn *connection, const struct change *change) {
  const char *identity = change->route->identity;
  buffer_clear(&origin->path);
  if (change->path != NULL)
    buffer_add_string(&origin->path, change->path);
  if (change->path != NULL && identity != NULL)
    buffer_add_string(&origin->path, " ");
  if (identity != NULL)
    buffer_add_string(&origin->path, identity);
  else if (change->path == NULL)
    buffer_add_string(&origin->path, origin->source_id);
  if (!buffer_is_empty(&origin->marked) && strcmp(origin->marked.data, origin->path.data) == 0)
    return;
  pgconn_pipeline_needs(connection, &origin->path, "the path of a change");
  pgconn_pipeline_add(connection, &QUERY_target_origin,
                      VALUES(origin->path.data, origin->in_transaction ? "true" : "false"));
  buffer_clear(&origin->marked);
  buffer_add_string(&origin->marked, origin->path.data);
}
