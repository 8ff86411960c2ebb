#include "mirror.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "json.h"
#include "latest.h"
#include "queries.h"

/* Rows travel in pieces of this size, so that neither side holds much at once; a larger row travels alone. Bytes. */
#define PIECE (1024u * 1024)
#define ROWS_LIMIT (1024u * 1024 * 1024)
#define NAMES_LIMIT (1024u * 1024)

enum statement { INSERT, UPSERT, DELETE_BY_KEY, DELETE_ROWS, TRUNCATE, STATEMENT_COUNT };

/* Columns of mirror_statements.sql; the statements follow in the order of the enum. */
enum { COLUMN_EXISTS, COLUMN_MISSING, COLUMN_KEY_IS_KNOWN, COLUMN_KEY_IS_UNIQUE, COLUMN_STATEMENTS };

/* The statements for rows of one table that have the same columns. */
struct shape {
  int capture;
  char *names;        /* JSON array */
  char *text_columns; /* NULL: none */
  bool deletes;       /* they are for rows that were deleted */
  struct query statements[STATEMENT_COUNT];
};

struct mirror {
  struct shape **shapes; /* statements are referred to by address */
  size_t count;
  unsigned int next_name;
  struct buffer names;     /* room for the names of one row */
  struct shape **prepared; /* for each change of the push that was prepared */
  size_t prepared_capacity;
  char *delete_where;      /* statement for the truncated partition in the push, NULL when there is none */
};

bool mirror_new(struct mirror **mirror, struct error *error) {
  *mirror = calloc(1, sizeof **mirror);
  if (*mirror == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  buffer_init(&(*mirror)->names, NAMES_LIMIT);
  return true;
}

static void shape_free(struct shape *shape) {
  if (shape == NULL)
    return;
  for (int i = 0; i < STATEMENT_COUNT; i++) {
    free((char *)shape->statements[i].name);
    free((char *)shape->statements[i].text);
  }
  free(shape->names);
  free(shape->text_columns);
  free(shape);
}

void mirror_free(struct mirror *mirror) {
  if (mirror == NULL)
    return;
  for (size_t i = 0; i < mirror->count; i++)
    shape_free(mirror->shapes[i]);
  free(mirror->shapes);
  free(mirror->delete_where);
  free(mirror->prepared);
  buffer_release(&mirror->names);
  free(mirror);
}

/* ---- shapes ---------------------------------------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b) {
  return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Makes the route's table, or columns that it lacks. */
static bool create_table(struct pgconn *connection, bool in_transaction, const struct route *route,
                         struct error *error) {
  /* Other workers want to make the same table: the first does it, the others see it. */
  static const struct query LOCK = {.name = NULL, .text = "select pg_advisory_xact_lock(1919907698, -1)"};
  PGresult *script = NULL;
  bool ok = (in_transaction || pgconn_script(connection, "begin", error)) &&
            pgconn_run(connection, &LOCK, NO_VALUES, NULL, error) &&
            pgconn_run(connection, &QUERY_mirror_create,
                       VALUES(route->into_table, route->columns, route->key_columns, route->types), &script, error) &&
            pgconn_script(connection, PQgetvalue(script, 0, 0), error) &&
            (in_transaction || pgconn_script(connection, "commit", error));
  PQclear(script);
  if (!ok && !in_transaction)
    pgconn_rollback(connection);
  return ok;
}

static bool complain(const struct route *route, const PGresult *reply, struct error *error) {
  const char *table = route->into_table;
  if (PQgetvalue(reply, 0, COLUMN_EXISTS)[0] == 'f') {
    error_set(error, FAILURE_FATAL, "table %s does not exist in the target", table);
    return error_hint(error, "create it there, or run: rowrelay route --create %s TARGET", route->relation);
  }
  if (!PQgetisnull(reply, 0, COLUMN_MISSING)) {
    error_set(error, FAILURE_FATAL, "table %s in the target has no column %s, which %s has", table,
              PQgetvalue(reply, 0, COLUMN_MISSING), route->relation);
    return error_hint(error, "add it there, or run: rowrelay route --create %s TARGET", route->relation);
  }
  if (route->key_is_lost) {
    error_set(error, FAILURE_FATAL, "a key column of %s was dropped", route->relation);
    return error_hint(error, "run: rowrelay capture %s", route->relation);
  }
  if (PQgetvalue(reply, 0, COLUMN_KEY_IS_KNOWN)[0] == 'f')
    return error_set(error, FAILURE_REFUSED, "it was captured when the key of %s was not yet %s", route->relation,
                     route->key_columns);
  error_set(error, FAILURE_FATAL, "table %s in the target has no unique index on the key %s of %s", table,
            route->key_columns, route->relation);
  return error_hint(error, "create one there: rows are found by it");
}

static bool is_usable(const struct route *route, const PGresult *reply) {
  return PQgetvalue(reply, 0, COLUMN_EXISTS)[0] == 't' && PQgetisnull(reply, 0, COLUMN_MISSING) &&
         PQgetvalue(reply, 0, COLUMN_KEY_IS_KNOWN)[0] == 't' &&
         (route->keyless || PQgetvalue(reply, 0, COLUMN_KEY_IS_UNIQUE)[0] == 't');
}

static bool read_statements(struct mirror *mirror, struct shape *shape, const PGresult *reply) {
  for (int i = 0; i < STATEMENT_COUNT; i++) {
    char name[32];
    snprintf(name, sizeof name, "mirror_%u", mirror->next_name++);
    shape->statements[i].name = strdup(name);
    shape->statements[i].text = strdup(PQgetvalue(reply, 0, COLUMN_STATEMENTS + i));
    if (shape->statements[i].name == NULL || shape->statements[i].text == NULL)
      return false;
  }
  return true;
}

/* The image that decides the shape; NULL: none is needed. */
static const char *shaping_image(const struct change *change) {
  switch (change->operation) {
  case OPERATION_TRUNCATE:
    return NULL;
  case OPERATION_DELETE:
    return change->old_row;
  default:
    return change->new_row;
  }
}

/* Writes the names of the columns that the statement for a change is made for. */
static bool write_names(struct mirror *mirror, const struct change *change) {
  const char *image = shaping_image(change);
  buffer_clear(&mirror->names);
  if (image == NULL)
    buffer_add_string(&mirror->names, change->route->key_columns);
  else if (!json_names(image, &mirror->names))
    return false;
  return !mirror->names.overflow;
}

/* For a change whose names are in mirror->names. */
static struct shape *find_shape(const struct mirror *mirror, const struct change *change) {
  for (size_t i = 0; i < mirror->count; i++) {
    struct shape *shape = mirror->shapes[i];
    if (shape->capture == change->capture && shape->deletes == (change->operation == OPERATION_DELETE) &&
        strcmp(shape->names, mirror->names.data) == 0 && same_text(shape->text_columns, change->text_columns))
      return shape;
  }
  return NULL;
}

static size_t count_names(const char *names) {
  size_t count = 0;
  for (const char *c = names; *c != '\0'; c++) {
    if (*c != '"')
      continue;
    count++;
    for (c++; *c != '"' && *c != '\0'; c++)
      if (*c == '\\' && c[1] != '\0')
        c++;
  }
  return count;
}

/*
 * A delete that has its key and no more says itself what the key's columns were called when it was captured; they may
 * have been renamed since.
 */
static const char *key_of(const struct change *change, const char *names) {
  const struct route *route = change->route;
  bool key_only = change->operation == OPERATION_DELETE && !route->keyless &&
                  count_names(names) == count_names(route->key_columns);
  return key_only ? names : route->key_columns;
}

/* For a change whose names are in mirror->names. */
static bool add_shape(struct mirror *mirror, struct pgconn *connection, bool in_transaction, const struct change *change,
                      struct error *error) {
  const struct route *route = change->route;
  const char *names = mirror->names.data;
  struct values values = VALUES(route->into_table, names, key_of(change, names), change->text_columns);
  PGresult *reply = NULL;
  struct shape *shape = NULL;
  bool ok = false;
  if (!pgconn_run(connection, &QUERY_mirror_statements, values, &reply, error))
    goto done;
  if (!is_usable(route, reply) && route->create_table) {
    PQclear(reply);
    reply = NULL;
    if (!create_table(connection, in_transaction, route, error) ||
        !pgconn_run(connection, &QUERY_mirror_statements, values, &reply, error))
      goto done;
  }
  if (!is_usable(route, reply)) {
    complain(route, reply, error);
    goto done;
  }
  struct shape **grown = realloc(mirror->shapes, (mirror->count + 1) * sizeof *grown);
  if (grown != NULL)
    mirror->shapes = grown;
  shape = grown != NULL ? calloc(1, sizeof *shape) : NULL;
  if (shape == NULL || !read_statements(mirror, shape, reply) || (shape->names = strdup(names)) == NULL ||
      (change->text_columns != NULL && (shape->text_columns = strdup(change->text_columns)) == NULL)) {
    error_set(error, FAILURE_RETRY, "out of memory");
    goto done;
  }
  shape->capture = route->capture;
  shape->deletes = change->operation == OPERATION_DELETE;
  mirror->shapes[mirror->count++] = shape;
  shape = NULL;
  ok = true;

done:
  shape_free(shape);
  PQclear(reply);
  return ok;
}

/* A truncated partition comes with the condition that its rows fulfil. It is a barrier, so there is one in a push. */
static bool prepare_delete_where(struct mirror *mirror, struct pgconn *connection, const struct change *change,
                                 struct error *error) {
  PGresult *reply = NULL;
  if (!pgconn_run(connection, &QUERY_mirror_delete_where, VALUES(change->route->into_table, change->new_row), &reply,
                  error))
    return false;
  free(mirror->delete_where);
  mirror->delete_where = strdup(PQgetvalue(reply, 0, 0));
  PQclear(reply);
  return mirror->delete_where != NULL || error_set(error, FAILURE_RETRY, "out of memory");
}

bool mirror_prepare(struct mirror *mirror, struct pgconn *connection, bool in_transaction, const struct push *push,
                    struct error *error) {
  if (push->count > mirror->prepared_capacity) {
    struct shape **grown = realloc(mirror->prepared, push->count * sizeof *grown);
    if (grown == NULL)
      return error_set(error, FAILURE_RETRY, "out of memory");
    mirror->prepared = grown;
    mirror->prepared_capacity = push->count;
  }
  for (size_t i = 0; i < push->count; i++) {
    const struct change *change = push->changes[i];
    if ((change->operation != OPERATION_TRUNCATE && shaping_image(change) == NULL) || !write_names(mirror, change))
      return error_set(error, FAILURE_REFUSED, "change %lld has no row image", (long long)change->id);
    mirror->prepared[i] = find_shape(mirror, change);
    if (mirror->prepared[i] == NULL) {
      if (!add_shape(mirror, connection, in_transaction, change, error))
        return false;
      mirror->prepared[i] = mirror->shapes[mirror->count - 1];
    }
    if (change->operation == OPERATION_TRUNCATE && change->new_row != NULL &&
        !prepare_delete_where(mirror, connection, change, error))
      return false;
  }
  return true;
}

/* ---- pushing --------------------------------------------------------------------------------------------------- */

/* Rows on their way to one statement. */
struct piece {
  struct pgconn *connection;
  const struct query *statement;
  struct buffer rows;
};

static void piece_send(struct piece *piece) {
  if (piece->rows.length == 0)
    return;
  buffer_add(&piece->rows, "]", 1);
  pgconn_pipeline_add(piece->connection, piece->statement, VALUES(piece->rows.data));
  buffer_clear(&piece->rows);
}

static void piece_add(struct piece *piece, const struct query *statement, const char *row) {
  size_t length = strlen(row);
  if (piece->statement != statement || piece->rows.length + length > PIECE)
    piece_send(piece);
  piece->statement = statement;
  buffer_add(&piece->rows, piece->rows.length == 0 ? "[" : ",", 1);
  buffer_add(&piece->rows, row, length);
}

static void add_change(struct mirror *mirror, struct piece *piece, const struct push *push, size_t index) {
  const struct change *change = push->changes[index];
  struct shape *shape = mirror->prepared[index];
  if (change->operation == OPERATION_DELETE)
    piece_add(piece, &shape->statements[DELETE_BY_KEY], change->old_row);
  else
    piece_add(piece, &shape->statements[UPSERT], change->new_row);
}

/*
 * Rows without a key are told apart by all they hold, so what counts is how many there are of each. With the new ones in
 * first, every old one is there to be taken out, in whatever order they came.
 */
static void add_keyless(struct mirror *mirror, struct piece *piece, const struct push *push, int capture,
                        const struct fence *fence) {
  for (size_t i = 0; i < push->count; i++) {
    const struct change *change = push->changes[i];
    if (change->capture == capture && change->new_row != NULL && change->operation != OPERATION_TRUNCATE &&
        (fence == NULL || !fence_has(fence, change->id)))
      piece_add(piece, &mirror->prepared[i]->statements[INSERT], change->new_row);
  }
  for (size_t i = 0; i < push->count; i++) {
    const struct change *change = push->changes[i];
    if (change->capture == capture && change->old_row != NULL && change->operation != OPERATION_TRUNCATE &&
        (fence == NULL || !fence_has(fence, change->id)))
      piece_add(piece, &mirror->prepared[i]->statements[DELETE_ROWS], change->old_row);
  }
}

/* Of each row only the last change counts: first all that go, then all that are there. */
static bool add_latest(struct mirror *mirror, struct piece *piece, const struct push *push, int capture,
                       struct error *error) {
  bool ok = false;
  size_t count = 0;
  const struct change **changes = calloc(push->count, sizeof *changes);
  size_t *indexes = calloc(push->count, sizeof *indexes); /* of those in the push */
  bool *is_last = calloc(push->count, sizeof *is_last);
  if (changes == NULL || indexes == NULL || is_last == NULL) {
    error_set(error, FAILURE_RETRY, "out of memory");
    goto done;
  }
  for (size_t i = 0; i < push->count; i++)
    if (push->changes[i]->capture == capture) {
      indexes[count] = i;
      changes[count++] = push->changes[i];
    }
  if (!latest_mark(changes, count, is_last, error))
    goto done;
  for (size_t i = 0; i < count; i++)
    if (is_last[i] && changes[i]->operation == OPERATION_DELETE)
      add_change(mirror, piece, push, indexes[i]);
  for (size_t i = 0; i < count; i++)
    if (is_last[i] && changes[i]->operation != OPERATION_DELETE)
      add_change(mirror, piece, push, indexes[i]);
  ok = true;

done:
  free(changes);
  free(indexes);
  free(is_last);
  return ok;
}

/* Texts of such a key may differ though the keys are equal: one statement for each change, in their order. */
static void add_one_by_one(struct mirror *mirror, struct piece *piece, const struct push *push, int capture) {
  for (size_t i = 0; i < push->count; i++)
    if (push->changes[i]->capture == capture) {
      add_change(mirror, piece, push, i);
      piece_send(piece);
    }
}

static void add_truncate(struct mirror *mirror, struct pgconn *connection, const struct push *push, size_t index) {
  struct query delete_where = {.name = NULL, .text = mirror->delete_where};
  bool whole = push->changes[index]->new_row == NULL;
  pgconn_pipeline_add(connection, whole ? &mirror->prepared[index]->statements[TRUNCATE] : &delete_where, NO_VALUES);
}

static bool is_first_of_capture(const struct push *push, size_t index) {
  for (size_t i = index; i > 0; i--)
    if (push->changes[i - 1]->capture == push->changes[index]->capture)
      return false;
  return true;
}

bool mirror_add(struct mirror *mirror, struct pgconn *connection, const struct push *push, const struct fence *fence,
                struct error *error) {
  struct piece piece = {.connection = connection};
  buffer_init(&piece.rows, ROWS_LIMIT);
  bool ok = true;
  for (size_t i = 0; ok && i < push->count; i++) {
    const struct change *change = push->changes[i];
    if (change->operation == OPERATION_TRUNCATE) {
      add_truncate(mirror, connection, push, i);
      continue;
    }
    if (!is_first_of_capture(push, i))
      continue;
    if (change->route->keyless)
      add_keyless(mirror, &piece, push, change->capture, fence);
    else if (change->route->key_is_exact)
      ok = add_latest(mirror, &piece, push, change->capture, error);
    else
      add_one_by_one(mirror, &piece, push, change->capture);
    piece_send(&piece);
  }
  ok = ok && buffer_ok(&piece.rows, "a row", error);
  buffer_release(&piece.rows);
  return ok;
}
