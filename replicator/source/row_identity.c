#include "source/row_identity.h"

#include "common/buffer.h"
#include "postgres/result.h"
#include "queries.h"

/* JSON of all keys of a batch. */
#define LIST_LIMIT ((size_t)512 * 1024 * 1024)

/* A table without a key may have changes from when it had one, of a type that is not known any more. */
static bool is_wanted(const struct change *change) {
  const struct route *route = change->route;
  return change->key != NULL && !route->keyless && !route->key_is_exact && !route->document;
}

bool row_identity_read(struct source *source, struct batch *batch, struct error *error) {
  struct buffer list;
  size_t count = 0;
  buffer_init(&list, LIST_LIMIT);
  for (size_t i = 0; i < batch->count; i++) {
    const struct change *change = &batch->changes[i];
    if (!is_wanted(change))
      continue;
    buffer_add_format(&list, "%s{\"capture\":%d,\"key\":", count++ == 0 ? "[" : ",", change->capture);
    buffer_add_json_string(&list, change->key);
    buffer_add_string(&list, "}");
  }
  buffer_add_string(&list, "]");
  PGresult *reply = NULL;
  bool ok = count == 0 || (buffer_ok(&list, "a list of keys", error) &&
                           source_run(source, &QUERY_claim_hashes, VALUES(list.data), &reply, error));
  if (ok && count > 0 && PQntuples(reply) != (int)count)
    ok = error_set(error, FAILURE_RETRY, "the source hashed %d keys of %zu", PQntuples(reply), count);
  int row = 0;
  for (size_t i = 0; ok && count > 0 && i < batch->count; i++) {
    struct change *change = &batch->changes[i];
    if (!is_wanted(change))
      continue;
    change->has_hash = true;
    change->hash = result_bigint(reply, row++, 0);
  }
  PQclear(reply);
  buffer_release(&list);
  return ok;
}
