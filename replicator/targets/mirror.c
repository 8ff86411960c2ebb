#include "targets/mirror.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "common/json.h"
#include "common/shell.h"
#include "postgres/result.h"
#include "queries.h"
#include "targets/cascade.h"
#include "targets/coarse.h"
#include "targets/likeness.h"
#include "targets/parcel.h"
#include "targets/row_order.h"

#define NAMES_LIMIT ((size_t)1024 * 1024)

enum statement { INSERT, UPSERT, DELETE_BY_KEY, DELETE_ROWS, TRUNCATE, STATEMENT_COUNT };

/* The statements for rows of one table that have the same columns. */
struct shape {
  int capture;
  char *names;        /* JSON array */
  char *text_columns; /* NULL: none */
  bool deletes;       /* for deleted rows */
  struct parcel_statement statements[STATEMENT_COUNT];
};

struct mirror {
  const char *source_id; /* whose fence the target has; borrowed; NULL: there is none */
  struct origin *origin; /* borrowed */
  struct shape **shapes; /* statements are referred to by address */
  size_t count;
  struct buffer names;     /* names of the row at hand */
  struct shape **prepared; /* for each change of the push that was prepared */
  size_t prepared_capacity;
  char *delete_where; /* statement for a truncated partition in the push; NULL: none */
};

bool mirror_new(struct mirror **mirror, const char *source_id, struct origin *origin, struct error *error) {
  *mirror = calloc(1, sizeof **mirror);
  if (*mirror == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  **mirror = (struct mirror){.source_id = source_id, .origin = origin};
  buffer_init(&(*mirror)->names, NAMES_LIMIT);
  return true;
}

static void shape_free(struct shape *shape, struct pgconn *connection) {
  if (shape == NULL)
    return;
  for (int i = 0; i < STATEMENT_COUNT; i++) {
    struct query *query = &shape->statements[i].query;
    if (query->name != NULL)
      pgconn_forget(connection, query->name);
    free((char *)query->name);
    free((char *)query->text);
  }
  free(shape->names);
  free(shape->text_columns);
  free(shape);
}

void mirror_forget(struct mirror *mirror, struct pgconn *connection) {
  for (size_t i = 0; i < mirror->count; i++)
    shape_free(mirror->shapes[i], connection);
  mirror->count = 0;
}

void mirror_free(struct mirror *mirror, struct pgconn *connection) {
  if (mirror == NULL)
    return;
  mirror_forget(mirror, connection);
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

static bool hint_create(const struct route *route, const struct push *push, struct error *error) {
  struct shell_word table;
  struct shell_word target;
  if (route->create_table || route->document)
    return error_hint(error, "create it there");
  return error_hint(error, "create it there, or run: rowrelay route --create %s %s",
                    shell_quote(&table, route->relation), shell_quote(&target, push->target));
}

/* A table or column that was dropped at the source cannot be created any more. */
static bool complain_of_missing_table(const struct route *route, const struct push *push, struct error *error) {
  if (route->source_columns != NULL || route->document) {
    error_set(error, FAILURE_TABLE, "table %s does not exist in the target", route->into_table);
    return hint_create(route, push, error);
  }
  error_set(error, FAILURE_TABLE,
            "table %s does not exist in the target, and cannot be created since %s was dropped at the source",
            route->into_table, route->relation);
  struct shell_word target;
  return error_hint(error, "create it there, or discard its changes: rowrelay skip --all --table %s --target %s",
                    route->number, shell_quote(&target, push->target));
}

static bool complain_of_missing_column(const struct route *route, const PGresult *reply, const struct push *push,
                                       struct error *error) {
  const char *missing = PQgetvalue(reply, 0, MIRROR_MISSING);
  if (!result_bool(reply, 0, MIRROR_MISSING_AT_SOURCE))
    return error_set(
        error, FAILURE_REFUSED,
        "table %s in the target has no column %s, which %s had when the change was captured, but no longer "
        "has",
        route->into_table, missing, route->relation);
  error_set(error, FAILURE_TABLE, "table %s in the target has no column %s, which %s has", route->into_table, missing,
            route->relation);
  return hint_create(route, push, error);
}

static bool complain(const struct route *route, const PGresult *reply, const struct push *push, struct error *error) {
  const char *table = route->into_table;
  if (!result_bool(reply, 0, MIRROR_EXISTS))
    return complain_of_missing_table(route, push, error);
  if (!PQgetisnull(reply, 0, MIRROR_MISSING))
    return complain_of_missing_column(route, reply, push, error);
  if (!PQgetisnull(reply, 0, MIRROR_FIXED)) {
    error_set(error, FAILURE_TABLE,
              "column %s of table %s in the target is generated always as identity and cannot be updated",
              PQgetvalue(reply, 0, MIRROR_FIXED), table);
    return error_hint(error, "run there: alter table %s alter %s set generated by default", table,
                      PQgetvalue(reply, 0, MIRROR_FIXED));
  }
  if (!result_bool(reply, 0, MIRROR_KEY_IS_KNOWN))
    return error_set(error, FAILURE_REFUSED, "the change was captured before the key of %s became %s", route->relation,
                     route->key_columns);
  error_set(error, FAILURE_TABLE, "table %s in the target has no unique index on the key %s of %s", table,
            route->key_columns, route->relation);
  return error_hint(error, "create one there; rows are found by it");
}

static bool is_usable(const struct route *route, const PGresult *reply) {
  return result_bool(reply, 0, MIRROR_EXISTS) && PQgetisnull(reply, 0, MIRROR_MISSING) &&
         result_bool(reply, 0, MIRROR_KEY_IS_KNOWN) &&
         (route->keyless || (result_bool(reply, 0, MIRROR_KEY_IS_UNIQUE) && PQgetisnull(reply, 0, MIRROR_FIXED)));
}

static bool read_statements(struct shape *shape, struct pgconn *connection, const PGresult *reply) {
  static const int COLUMNS[STATEMENT_COUNT] = {[INSERT] = MIRROR_INSERT,
                                               [UPSERT] = MIRROR_UPSERT,
                                               [DELETE_BY_KEY] = MIRROR_DELETE_BY_KEY,
                                               [DELETE_ROWS] = MIRROR_DELETE_ROWS,
                                               [TRUNCATE] = MIRROR_TRUNCATE};
  for (int i = 0; i < STATEMENT_COUNT; i++) {
    char name[STATEMENT_NAME_SIZE];
    pgconn_make_name(connection, name);
    struct query *query = &shape->statements[i].query;
    query->name = strdup(name);
    query->text = strdup(PQgetvalue(reply, 0, COLUMNS[i]));
    if (query->name == NULL || query->text == NULL)
      return false;
    shape->statements[i].takes = i == DELETE_ROWS ? result_int(reply, 0, MIRROR_DELETE_ROWS_TAKES) : 1;
  }
  return true;
}

/* The image that determines the shape; NULL: none is needed. */
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

/* For a change whose names mirror->names holds. */
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
 * A delete with nothing but its key tells the names of the key columns when it was captured; they may have been renamed
 * since.
 */
static const char *key_of(const struct change *change, const char *names) {
  const struct route *route = change->route;
  bool key_only =
      change->operation == OPERATION_DELETE && !route->keyless && count_names(names) == count_names(route->key_columns);
  return key_only ? names : route->key_columns;
}

static bool complain_of_lost_key(const struct route *route, struct error *error) {
  struct shell_word table;
  error_set(error, FAILURE_TABLE, "a key column of %s was dropped", route->relation);
  return error_hint(error, "run: rowrelay capture %s", shell_quote(&table, route->relation));
}

/* The context in which a push is prepared. */
struct preparation {
  struct pgconn *connection;
  bool in_transaction; /* the pushing transaction has begun already */
  const struct push *push;
};

/* For a change whose names are in mirror->names. */
static bool add_shape(struct mirror *mirror, const struct preparation *preparation, const struct change *change,
                      struct error *error) {
  struct pgconn *connection = preparation->connection;
  const struct push *push = preparation->push;
  const struct route *route = change->route;
  const char *names = mirror->names.data;
  bool routes_are_new = push->routes_are_new;
  /* Dropped columns are known only if the routes were read after the change was captured. */
  struct values values =
      VALUES(route->into_table, names, key_of(change, names), change->text_columns,
             routes_are_new ? route->source_columns : NULL, routes_are_new ? route->hidden_columns : NULL,
             route->columns, mirror->source_id != NULL ? "true" : "false");
  PGresult *reply = NULL;
  struct shape *shape = NULL;
  bool ok = false;
  if (route->key_is_lost)
    return complain_of_lost_key(route, error);
  if (!pgconn_run(connection, &QUERY_mirror_statements, values, &reply, error))
    goto done;
  /* Captured after the key was lost, which was after the routes were read. */
  if (!route->keyless && change->key == NULL && !result_bool(reply, 0, MIRROR_KEY_IS_KNOWN) && !routes_are_new) {
    complain_of_lost_key(route, error);
    goto done;
  }
  if (!is_usable(route, reply) && route->create_table && route->columns != NULL) {
    PQclear(reply);
    reply = NULL;
    if (!likeness_create(connection, preparation->in_transaction, route, error) ||
        !pgconn_run(connection, &QUERY_mirror_statements, values, &reply, error))
      goto done;
  }
  if (!is_usable(route, reply)) {
    complain(route, reply, push, error);
    goto done;
  }
  if (!coarse_check(connection, route, error) || !cascade_tell(connection, push->target, route, error))
    goto done;
  struct shape **grown = realloc(mirror->shapes, (mirror->count + 1) * sizeof *grown);
  if (grown != NULL)
    mirror->shapes = grown;
  shape = grown != NULL ? calloc(1, sizeof *shape) : NULL;
  if (shape == NULL || !read_statements(shape, connection, reply) || (shape->names = strdup(names)) == NULL ||
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
  shape_free(shape, connection);
  PQclear(reply);
  return ok;
}

/* A truncated partition comes with the condition that its rows meet. It is a barrier, so a push has at most one. */
static bool prepare_delete_where(struct mirror *mirror, struct pgconn *connection, const struct change *change,
                                 struct error *error) {
  PGresult *reply = NULL;
  if (!pgconn_run(connection, &QUERY_mirror_delete_where, VALUES(change->route->into_table, change->new_row), &reply,
                  error))
    return false;
  bool found = PQntuples(reply) > 0;
  free(mirror->delete_where);
  mirror->delete_where = found ? strdup(PQgetvalue(reply, 0, 0)) : NULL;
  PQclear(reply);
  if (found)
    return mirror->delete_where != NULL || error_set(error, FAILURE_RETRY, "out of memory");
  error_set(error, FAILURE_REFUSED,
            "a partition of %s was truncated, and table %s in the target does not know which rows it held, because a "
            "nondeterministic collation takes different texts for equal there",
            change->route->relation, change->route->into_table);
  return error_hint(error, "delete these rows there, and skip the change");
}

static bool prepare_change(struct mirror *mirror, const struct preparation *preparation, size_t index,
                           struct error *error) {
  const struct change *change = preparation->push->changes[index];
  if ((change->operation != OPERATION_TRUNCATE && shaping_image(change) == NULL) || !write_names(mirror, change))
    return error_set(error, FAILURE_REFUSED, "change %lld has no row image", (long long)change->id);
  if (change_is_keyless(change) && change->operation == OPERATION_UPDATE && change->old_row == NULL)
    return error_set(error, FAILURE_REFUSED, "the change was captured %s, and has no image of the row before it",
                     change->key == NULL ? "without a key" : "when the table had a key");
  mirror->prepared[index] = find_shape(mirror, change);
  if (mirror->prepared[index] == NULL) {
    if (!add_shape(mirror, preparation, change, error))
      return error->kind == FAILURE_TABLE || error->kind == FAILURE_FATAL
                 ? push_hold(preparation->push, change->capture, error)
                 : false;
    mirror->prepared[index] = mirror->shapes[mirror->count - 1];
  }
  return change->operation != OPERATION_TRUNCATE || change->new_row == NULL ||
         prepare_delete_where(mirror, preparation->connection, change, error);
}

bool mirror_prepare(struct mirror *mirror, struct pgconn *connection, bool in_transaction, const struct push *push,
                    struct error *error) {
  struct preparation preparation = {.connection = connection, .in_transaction = in_transaction, .push = push};
  bool any_refused = false;
  struct error why;
  if (push->count > mirror->prepared_capacity) {
    struct shape **grown = realloc(mirror->prepared, push->count * sizeof *grown);
    if (grown == NULL)
      return error_set(error, FAILURE_RETRY, "out of memory");
    mirror->prepared = grown;
    mirror->prepared_capacity = push->count;
  }
  for (size_t i = 0; i < push->count; i++) {
    if (prepare_change(mirror, &preparation, i, error))
      continue;
    /* What is not the server's word is known of this change alone: the others need not be tried in parts. */
    if (error->kind != FAILURE_REFUSED || error->sqlstate[0] != '\0')
      return false;
    verdict_refuse(&push->verdicts[i], error);
    any_refused = true;
    why = *error;
  }
  if (any_refused)
    *error = why;
  return !any_refused;
}

/* ---- pushing --------------------------------------------------------------------------------------------------- */

/* The changes of one table in a push. */
struct lot {
  const struct push *push;
  int capture;
  const bool *applied; /* for each change of the push: whether an earlier delivery, not settled, has applied it */
};

static void add_change(struct mirror *mirror, struct parcel *parcel, const struct push *push, size_t index) {
  const struct change *change = push->changes[index];
  struct shape *shape = mirror->prepared[index];
  if (change->operation == OPERATION_DELETE)
    parcel_add(parcel, &shape->statements[DELETE_BY_KEY], index, change->old_row);
  else
    parcel_add(parcel, &shape->statements[UPSERT], index, change->new_row);
}

static int by_number(const void *a, const void *b) {
  int64_t left = *(const int64_t *)a;
  int64_t right = *(const int64_t *)b;
  return (left > right) - (left < right);
}

/*
 * Marks the changes that an earlier delivery, which was not settled, has applied, and whose rows are still so: others
 * are applied again, which is harmless where rows have a key. `fence` may be NULL. Not for documents: one change may
 * concern many, in several pushes, and they are read anew each time, so none is older than what the target has.
 */
static bool mark_applied(const struct push *push, const struct fence *fence, bool *applied, struct error *error) {
  if (fence == NULL || fence->count == 0)
    return true;
  int64_t *rows = calloc(push->count + 1, sizeof *rows); /* of which something is applied for the first time */
  if (rows == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  size_t count = 0;
  bool any_row = false;
  for (size_t i = 0; i < push->count; i++)
    if (!fence_has(fence, push->changes[i]->id)) {
      rows[count] = fence_row(push->changes[i]);
      any_row = any_row || rows[count] == 0;
      count++;
    }
  qsort(rows, count, sizeof *rows, by_number);
  bool barrier_came = false;
  for (size_t i = 0; i < push->count; i++) {
    const struct change *change = push->changes[i];
    bool is_barrier = lane_is_of_barriers(change->lane); /* an older one of its row may have come in another lane */
    bool has = !change->route->document && fence_has(fence, change->id);
    int64_t row = fence_row(change);
    bool is_so = has && !any_row && !is_barrier && !barrier_came && fence_has_since(fence, change->id) && row != 0 &&
                 bsearch(&row, rows, count, sizeof *rows, by_number) == NULL;
    applied[i] = is_so || (has && change_is_keyless(change));
    barrier_came = barrier_came || (is_barrier && !applied[i]);
  }
  free(rows);
  return true;
}

/*
 * Rows without a key are identified by all their values, so what counts is how many there are of each. With inserts
 * first, every row to delete exists, in whatever order the changes came. Where a unique index of the target, which the
 * source may have had, refuses that, the changes come again one by one.
 */
static void add_keyless(struct mirror *mirror, struct parcel *parcel, const struct lot *lot) {
  const struct push *push = lot->push;
  for (size_t i = 0; i < push->count; i++) {
    const struct change *change = push->changes[i];
    if (change->capture == lot->capture && change->new_row != NULL && change->operation != OPERATION_TRUNCATE &&
        !lot->applied[i])
      parcel_add(parcel, &mirror->prepared[i]->statements[INSERT], i, change->new_row);
  }
  for (size_t i = 0; i < push->count; i++) {
    const struct change *change = push->changes[i];
    if (change->capture == lot->capture && change->old_row != NULL && change->operation != OPERATION_TRUNCATE &&
        !lot->applied[i])
      parcel_add(parcel, &mirror->prepared[i]->statements[DELETE_ROWS], i, change->old_row);
  }
}

/* Changes of one table, of different rows. */
struct selection {
  const struct change *const *changes;
  const size_t *indexes; /* of those in the push */
  bool *chosen;
  size_t count;
};

static bool is_selected(const struct selection *selection, size_t index, bool deletes) {
  return selection->chosen[index] && (selection->changes[index]->operation == OPERATION_DELETE) == deletes;
}

/* Adds the chosen deletes, or the others, and chooses them no more: those of one path after the other. */
static void add_selected(struct mirror *mirror, struct parcel *parcel, const struct selection *selection,
                         bool deletes) {
  for (size_t first = 0; first < selection->count; first++) {
    if (!is_selected(selection, first, deletes))
      continue;
    for (size_t i = first; i < selection->count; i++) {
      if (!is_selected(selection, i, deletes) || !origin_is_same(selection->changes[first], selection->changes[i]))
        continue;
      add_change(mirror, parcel, parcel->push, selection->indexes[i]);
      selection->chosen[i] = false;
    }
  }
}

/* Of each row only the last change counts: first all deletes, then all upserts. */
static bool add_latest(struct mirror *mirror, struct parcel *parcel, const struct lot *lot, struct error *error) {
  const struct push *push = lot->push;
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
    if (push->changes[i]->capture == lot->capture && !lot->applied[i]) {
      indexes[count] = i;
      changes[count++] = push->changes[i];
    }
  if (!row_order_mark(changes, count, is_last, error))
    goto done;
  for (size_t i = 0; i < count; i++)
    if (!is_last[i])
      verdict_answer(&push->verdicts[indexes[i]], "superseded by a later change");
  struct selection last = {.changes = changes, .indexes = indexes, .chosen = is_last, .count = count};
  add_selected(mirror, parcel, &last, true);
  add_selected(mirror, parcel, &last, false);
  ok = true;

done:
  free(changes);
  free(indexes);
  free(is_last);
  return ok;
}

/*
 * Whether a row's last change may replace the others. Not if columns were added or dropped in between, because the last
 * change lacks what an earlier one set; nor if some keys are unknown, because the table had none when they were
 * captured, or had lost it.
 */
static bool may_collapse(const struct mirror *mirror, const struct lot *lot) {
  const struct push *push = lot->push;
  const struct shape *first = NULL;
  for (size_t i = 0; i < push->count; i++) {
    const struct change *change = push->changes[i];
    const struct shape *shape = mirror->prepared[i];
    if (change->capture != lot->capture)
      continue;
    if (change_is_keyless(change))
      return false;
    if (change->operation == OPERATION_DELETE)
      continue;
    if (first == NULL)
      first = shape;
    if (shape != first && strcmp(shape->names, first->names) != 0)
      return false;
  }
  return true;
}

/* One statement for each change, in their order. */
static void add_one_by_one(struct mirror *mirror, struct parcel *parcel, const struct lot *lot) {
  const struct push *push = lot->push;
  for (size_t i = 0; i < push->count; i++) {
    const struct change *change = push->changes[i];
    const struct shape *shape = mirror->prepared[i];
    if (change->capture != lot->capture || lot->applied[i])
      continue;
    if (!change_is_keyless(change)) {
      add_change(mirror, parcel, push, i);
    } else {
      if (change->old_row != NULL)
        parcel_add(parcel, &shape->statements[DELETE_ROWS], i, change->old_row);
      if (change->new_row != NULL)
        parcel_add(parcel, &shape->statements[INSERT], i, change->new_row);
    }
    parcel_send(parcel);
  }
}

static void add_truncate(struct mirror *mirror, struct pgconn *connection, const struct push *push, size_t index) {
  origin_add(mirror->origin, connection, push->changes[index]);
  struct query delete_where = {.name = NULL, .text = mirror->delete_where};
  bool whole = push->changes[index]->new_row == NULL;
  pgconn_pipeline_add(connection, whole ? &mirror->prepared[index]->statements[TRUNCATE].query : &delete_where,
                      NO_VALUES);
}

static bool is_first_of_capture(const struct push *push, size_t index) {
  for (size_t i = index; i > 0; i--)
    if (push->changes[i - 1]->capture == push->changes[index]->capture)
      return false;
  return true;
}

bool mirror_add(struct mirror *mirror, struct pgconn *connection, const struct push *push, const struct fence *fence,
                struct error *error) {
  bool *applied = calloc(push->count + 1, sizeof *applied);
  if (applied == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  struct parcel parcel;
  parcel_init(&parcel, connection, push, mirror->source_id, mirror->origin);
  bool ok = mark_applied(push, fence, applied, error);
  for (size_t i = 0; ok && i < push->count; i++) {
    const struct change *change = push->changes[i];
    if (change->operation == OPERATION_TRUNCATE) {
      /* Again, even if it was applied: an older change of another lane may have come since, but nothing newer. */
      add_truncate(mirror, connection, push, i);
      continue;
    }
    if (!is_first_of_capture(push, i))
      continue;
    struct lot lot = {.push = push, .capture = change->capture, .applied = applied};
    if (change->route->keyless && push->count > 1)
      add_keyless(mirror, &parcel, &lot);
    else if (!change->route->keyless && change->route->key_is_exact && may_collapse(mirror, &lot))
      ok = add_latest(mirror, &parcel, &lot, error);
    else /* equal keys of such types may have different texts */
      add_one_by_one(mirror, &parcel, &lot);
    parcel_send(&parcel);
  }
  ok = ok && buffer_ok(&parcel.rows, "a row", error);
  parcel_release(&parcel);
  free(applied);
  return ok;
}
