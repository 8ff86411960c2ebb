#include "targets/append.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "queries.h"
#include "targets/change_json.h"
#include "targets/ddl.h"

/* Rows are sent in pieces of this size; a larger row is sent alone. Bytes. */
#define PIECE ((size_t)1024 * 1024)
#define ROWS_LIMIT ((size_t)1024 * 1024 * 1024)

/* The statement for the changes of one captured table. */
struct insertion {
  int capture;
  struct query statement;
};

struct append {
  struct insertion **insertions;
  size_t count;
};

bool append_new(struct append **append, struct error *error) {
  *append = calloc(1, sizeof **append);
  return *append != NULL || error_set(error, FAILURE_RETRY, "out of memory");
}

static void insertion_free(struct insertion *insertion, struct pgconn *connection) {
  if (insertion == NULL)
    return;
  if (insertion->statement.name != NULL)
    pgconn_forget(connection, insertion->statement.name);
  free((char *)insertion->statement.name);
  free((char *)insertion->statement.text);
  free(insertion);
}

void append_forget(struct append *append, struct pgconn *connection) {
  for (size_t i = 0; i < append->count; i++)
    insertion_free(append->insertions[i], connection);
  append->count = 0;
}

void append_free(struct append *append, struct pgconn *connection) {
  if (append == NULL)
    return;
  append_forget(append, connection);
  free(append->insertions);
  free(append);
}

static struct insertion *find_insertion(const struct append *append, int capture) {
  for (size_t i = 0; i < append->count; i++)
    if (append->insertions[i]->capture == capture)
      return append->insertions[i];
  return NULL;
}

static bool add_insertion(struct append *append, struct pgconn *connection, bool in_transaction,
                          const struct route *route, struct error *error) {
  const char *table = route->into_table;
  PGresult *reply = NULL;
  struct insertion *insertion = NULL;
  bool ok = false;
  if (!pgconn_run(connection, &QUERY_append_insert, VALUES(table), &reply, error))
    goto done;
  if (PQntuples(reply) == 0) {
    PQclear(reply);
    reply = NULL;
    if (!ddl_run(connection, in_transaction, &QUERY_append_create, VALUES(table), error) ||
        !pgconn_run(connection, &QUERY_append_insert, VALUES(table), &reply, error))
      goto done;
  }
  if (PQntuples(reply) == 0) {
    error_set(error, FAILURE_FATAL, "table %s does not exist in the target", table);
    goto done;
  }
  struct insertion **grown = realloc(append->insertions, (append->count + 1) * sizeof *grown);
  if (grown != NULL)
    append->insertions = grown;
  char name[STATEMENT_NAME_SIZE];
  pgconn_make_name(connection, name);
  insertion = grown != NULL ? calloc(1, sizeof *insertion) : NULL;
  if (insertion == NULL || (insertion->statement.name = strdup(name)) == NULL ||
      (insertion->statement.text = strdup(PQgetvalue(reply, 0, 0))) == NULL) {
    error_set(error, FAILURE_RETRY, "out of memory");
    goto done;
  }
  insertion->capture = route->capture;
  append->insertions[append->count++] = insertion;
  insertion = NULL;
  ok = true;

done:
  insertion_free(insertion, connection);
  PQclear(reply);
  return ok;
}

bool append_prepare(struct append *append, struct pgconn *connection, bool in_transaction, const struct push *push,
                    struct error *error) {
  for (size_t i = 0; i < push->count; i++)
    if (find_insertion(append, push->changes[i]->capture) == NULL &&
        !add_insertion(append, connection, in_transaction, push->changes[i]->route, error))
      return error->kind == FAILURE_FATAL ? push_hold(push, push->changes[i]->capture, error) : false;
  return true;
}

static void send_rows(struct pgconn *connection, const struct insertion *insertion, struct buffer *rows,
                      const char *source_id) {
  if (insertion == NULL || buffer_is_empty(rows))
    return;
  buffer_add(rows, "]", 1);
  pgconn_pipeline_needs(connection, rows, "rows of a statement");
  pgconn_pipeline_topic(connection, insertion->capture);
  pgconn_pipeline_add(connection, &insertion->statement, VALUES(rows->data, source_id));
  pgconn_pipeline_topic(connection, 0);
  buffer_clear(rows);
}

bool append_add(struct append *append, struct pgconn *connection, struct origin *origin, const struct push *push,
                struct error *error) {
  struct buffer rows;
  buffer_init(&rows, ROWS_LIMIT);
  const struct insertion *insertion = NULL;
  for (size_t i = 0; i < push->count; i++) {
    const struct change *change = push->changes[i];
    const struct insertion *own = find_insertion(append, change->capture);
    if (own != insertion || rows.length + (size_t)change->bytes > PIECE ||
        (i > 0 && !origin_is_same(push->changes[i - 1], change)))
      send_rows(connection, insertion, &rows, origin->source_id);
    insertion = own;
    if (buffer_is_empty(&rows))
      origin_add(origin, connection, change);
    buffer_add(&rows, rows.length == 0 ? "[" : ",", 1);
    change_add_json(&rows, change, NULL);
  }
  send_rows(connection, insertion, &rows, origin->source_id);
  bool ok = buffer_ok(&rows, "a row", error);
  buffer_release(&rows);
  return ok;
}
