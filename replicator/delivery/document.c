#include "delivery/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "common/clock.h"
#include "common/error_kind.h"
#include "common/json_tree.h"
#include "common/text.h"
#include "postgres/number.h"
#include "postgres/result.h"
#include "queries.h"

/* How many keys the query is run for: this many at first, then as they turn out. */
#define FIRST_KEYS_AT_ONCE ((size_t)100)
#define MOST_KEYS_AT_ONCE ((size_t)2000)
#define MOST_BUILDS 5        /* of the same, where tables are rewritten meanwhile */
#define BUILD_TIME 250       /* milliseconds that it should take */
#define SOURCE_TIMEOUT 60000 /* milliseconds, as in worker.c */

#define LIST_LIMIT ((size_t)64 * 1024 * 1024)

/* Columns of a document's own query */
enum { BUILT_KEY, BUILT_ROW, BUILT_TEXT_COLUMNS };

static const struct query SAVEPOINT = {.name = NULL, .text = "savepoint document"};
static const struct query RELEASE = {.name = NULL, .text = "release savepoint document"};

void stale_init(struct stale *stale) {
  batch_init(&stale->batch);
  stale->keys = NULL;
  stale->all = false;
  buffer_init(&stale->asks_ids, LIST_LIMIT);
  buffer_init(&stale->asks_days, LIST_LIMIT);
}

void stale_release(struct stale *stale) {
  batch_release(&stale->batch);
  json_decref(stale->keys);
  buffer_release(&stale->asks_ids);
  buffer_release(&stale->asks_days);
  stale_init(stale);
}

void document_init(struct document *document) {
  *document = (struct document){.keys_at_once = FIRST_KEYS_AT_ONCE};
}

void document_release(struct document *document) {
  PQclear(document->definition);
  document_init(document);
}

bool document_read(struct document *document, PGresult *reply, int target, struct source *source, struct error *error) {
  size_t keys_at_once = document->keys_at_once;
  struct pgconn *connection = source_connection(source);
  pgconn_forget(connection, document->build_name);
  document_release(document);
  document->keys_at_once = keys_at_once;
  document->definition = reply;
  document->target = target;
  if (PQntuples(reply) == 0)
    return error_set(error, FAILURE_RETRY, "the document has no definition");
  /* The definition may be another one than before, so it gets a name of its own. */
  pgconn_make_name(connection, document->build_name);
  document->build = (struct query){.name = document->build_name, .text = PQgetvalue(reply, 0, DEFINITION_BUILD_QUERY)};
  document->key_name = PQgetvalue(reply, 0, DEFINITION_KEY_NAME);
  return true;
}

/* ---- which documents are stale --------------------------------------------------------------------------------- */

/* What is found while the claimed changes are looked at. */
struct collection {
  struct change *changes; /* a key may be there several times */
  size_t count;
  size_t capacity;
  struct stale *stale;
};

static bool add_stale(struct collection *found, const struct change *claimed, enum operation operation, const char *key,
                      struct lanes lanes) {
  if (found->count == found->capacity) {
    size_t capacity = found->capacity == 0 ? 256 : 2 * found->capacity;
    struct change *grown = realloc(found->changes, capacity * sizeof *grown);
    if (grown == NULL)
      return false;
    found->changes = grown;
    found->capacity = capacity;
  }
  found->changes[found->count++] = (struct change){.id = claimed->id,
                                                   .lane = lane_of_keys(lanes, claimed->lane),
                                                   .day = claimed->day,
                                                   .capture = claimed->route->capture,
                                                   .operation = operation,
                                                   .key = key,
                                                   .route = claimed->route};
  return true;
}

/* `kept` keeps what the found changes point into. */
static bool look_at(struct collection *found, const struct change *claimed, json_t *kept, struct lanes lanes) {
  if (claimed->operation == OPERATION_TRUNCATE && lane_is_of_barriers(claimed->lane) &&
      !add_stale(found, claimed, OPERATION_TRUNCATE, NULL, lanes))
    return false;
  if (claimed->expansion != NULL && strcmp(claimed->expansion, "all") == 0) {
    found->stale->all = true;
  } else if (claimed->expansion != NULL) {
    struct stale *stale = found->stale;
    buffer_add_format(&stale->asks_ids, "%s%lld", stale->asks_ids.length == 0 ? "{" : ",", (long long)claimed->id);
    buffer_add_format(&stale->asks_days, "%s%s", stale->asks_days.length == 0 ? "{" : ",", claimed->day);
  }
  if (claimed->new_row == NULL)
    return true;
  bool no_memory;
  json_t *keys = json_tree_parse(claimed->new_row, strlen(claimed->new_row), JSON_ALLOW_NUL, &no_memory);
  if (keys == NULL || json_array_append_new(kept, keys) != 0)
    return false;
  size_t index;
  json_t *key;
  json_array_foreach(keys, index, key) {
    if (json_is_string(key) && !add_stale(found, claimed, OPERATION_UPDATE, json_string_value(key), lanes))
      return false;
  }
  return true;
}

static int by_key(const void *a, const void *b) {
  const struct change *left = a;
  const struct change *right = b;
  if (left->key == NULL || right->key == NULL)
    return (left->key != NULL) - (right->key != NULL);
  int order = strcmp(left->key, right->key);
  return order != 0 ? order : (left->id > right->id) - (left->id < right->id);
}

/* Of each key the newest change stays. */
static void keep_newest(struct collection *found) {
  size_t kept = 0;
  if (found->count > 1)
    qsort(found->changes, found->count, sizeof *found->changes, by_key);
  for (size_t i = 0; i < found->count; i++) {
    const struct change *change = &found->changes[i];
    bool same = kept > 0 && change->key != NULL && found->changes[kept - 1].key != NULL &&
                strcmp(change->key, found->changes[kept - 1].key) == 0;
    found->changes[same ? kept - 1 : kept++] = *change;
  }
  found->count = kept;
}

/* The lanes whose keys the claim has: a fence stands before each. */
static bool copy_lanes(const struct batch *claimed, struct lanes lanes, struct batch *stale) {
  stale->lanes = calloc(claimed->lane_count + 1, sizeof *stale->lanes);
  if (stale->lanes == NULL)
    return false;
  for (size_t i = 0; i < claimed->lane_count; i++)
    stale->lanes[i] = lane_of_keys(lanes, claimed->lanes[i]);
  stale->lane_count = claimed->lane_count;
  stale->receipt = claimed->receipt;
  return true;
}

bool document_collect(const struct settings *settings, const struct batch *claimed, struct stale *stale,
                      struct error *error) {
  struct collection found = {.stale = stale};
  stale->keys = json_array();
  bool ok = stale->keys != NULL;
  for (size_t i = 0; ok && i < claimed->count; i++)
    ok = look_at(&found, &claimed->changes[i], stale->keys, settings->lanes);
  ok = (ok && copy_lanes(claimed, settings->lanes, &stale->batch)) || error_set(error, FAILURE_RETRY, "out of memory");
  if (ok)
    keep_newest(&found);
  stale->batch.changes = found.changes;
  stale->batch.count = found.count;
  stale->batch.capacity = found.capacity;
  return ok;
}

/* Whether the files are the same as those of an earlier answer of document_files.sql. */
static bool files_stayed(const PGresult *before, const PGresult *after) {
  return strcmp(PQgetvalue(before, 0, 0), PQgetvalue(after, 0, 0)) == 0;
}

static bool rewritten(struct error *error) {
  return error_set(error, FAILURE_RETRY, "a table was rewritten while documents were built from it");
}

static bool expand(const char *target, struct source *source, struct stale *stale, struct error *error) {
  if (buffer_is_empty(&stale->asks_ids))
    return true;
  buffer_add_string(&stale->asks_ids, "}");
  buffer_add_string(&stale->asks_days, "}");
  if (buffer_ok(&stale->asks_ids, "a list of changes", error) &&
      buffer_ok(&stale->asks_days, "a list of days", error) &&
      source_run(source, &QUERY_document_expand, VALUES(target, stale->asks_ids.data, stale->asks_days.data), NULL,
                 error))
    return true;
  if (error->sqlstate[0] != '\0' && error->hint[0] == '\0')
    error_hint(error, "raised at the source by a --from query of the document");
  return false;
}

bool document_queue_more(const struct document *document, struct source *source, struct stale *stale,
                         struct error *error) {
  struct number target = number(document->target);
  PGresult *before = NULL;
  PGresult *after = NULL;
  if (buffer_is_empty(&stale->asks_ids) && !stale->all)
    return true;
  bool ok = source_run(source, &QUERY_document_files, VALUES(target.text), &before, error) &&
            source_run(source, &QUERY_document_begin, NO_VALUES, NULL, error) &&
            expand(target.text, source, stale, error) &&
            (!stale->all || source_run(source, &QUERY_document_rebuild, VALUES(target.text), NULL, error)) &&
            source_run(source, &QUERY_document_end, NO_VALUES, NULL, error) &&
            source_run(source, &QUERY_document_files, VALUES(target.text), &after, error) &&
            (files_stayed(before, after) || rewritten(error));
  PQclear(before);
  PQclear(after);
  return ok;
}

/* ---- building -------------------------------------------------------------------------------------------------- */

/* Runs the query for these keys. *stayed: no table was rewritten meanwhile. *built is the caller's to PQclear. */
static bool run_query(const struct builder *builder, const char *keys, bool *stayed, PGresult **built,
                      struct error *error) {
  const struct document *document = builder->document;
  struct pgconn *connection = source_connection(builder->source);
  struct number target = number(document->target);
  PGresult *replies[7] = {NULL};
  pgconn_pipeline_begin(connection);
  pgconn_pipeline_add(connection, &SAVEPOINT, NO_VALUES);
  pgconn_pipeline_add(connection, &QUERY_document_files, VALUES(target.text));
  pgconn_pipeline_add(connection, &QUERY_document_begin, NO_VALUES);
  pgconn_pipeline_add(connection, &document->build, VALUES(keys));
  pgconn_pipeline_add(connection, &QUERY_document_end, NO_VALUES);
  pgconn_pipeline_add(connection, &QUERY_document_files, VALUES(target.text));
  pgconn_pipeline_add(connection, &RELEASE, NO_VALUES);
  bool ok = pgconn_pipeline_run(connection, replies, 7, error);
  if (!ok && pgconn_alive(connection)) {
    struct error ignored;
    if (error->sqlstate[0] != '\0' && error->hint[0] == '\0')
      error_hint(error, "raised at the source by the document's query");
    if (!pgconn_script(connection, "rollback to savepoint document; release savepoint document", &ignored))
      *error = ignored;
  }
  *stayed = ok && files_stayed(replies[1], replies[5]);
  *built = replies[3];
  for (size_t i = 0; i < 7; i++)
    if (i != 3)
      PQclear(replies[i]);
  return ok;
}

/* Builds the documents of a push's changes. *built is the caller's to PQclear. */
static bool build(const struct builder *builder, const struct push *push, PGresult **built, struct error *error) {
  struct buffer keys; /* an array literal */
  buffer_init(&keys, LIST_LIMIT);
  for (size_t i = 0; i < push->count; i++) {
    buffer_add_string(&keys, i == 0 ? "{" : ",");
    buffer_add_array_string(&keys, push->changes[i]->key);
  }
  buffer_add_string(&keys, "}");
  bool ok = buffer_ok(&keys, "a list of keys", error);
  bool stayed = false;
  for (int i = 0; ok && !stayed && i < MOST_BUILDS; i++) {
    PQclear(*built);
    ok = run_query(builder, keys.data, &stayed, built, error);
  }
  buffer_release(&keys);
  return ok && (stayed || rewritten(error));
}

/* Index of the change with that key; push->count: there is none. The changes are in order of their keys. */
static size_t find_key(const struct push *push, const char *key) {
  size_t low = 0;
  size_t high = push->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    int order = strcmp(push->changes[middle]->key, key);
    if (order == 0)
      return middle;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return push->count;
}

/* What is pushed: changes with their rows. */
struct push_room {
  struct change *changes;
  const struct change **pointers;
  struct buffer keys; /* rows of deletes; each is found by its offset until all are written */
  size_t *offsets;
  size_t bytes; /* of what was built */
};

static bool room_init(struct push_room *room, size_t count, struct error *error) {
  room->changes = calloc(count + 1, sizeof *room->changes);
  room->pointers = calloc(count + 1, sizeof *room->pointers);
  room->offsets = calloc(count + 1, sizeof *room->offsets);
  buffer_init(&room->keys, LIST_LIMIT);
  return (room->changes != NULL && room->pointers != NULL && room->offsets != NULL) ||
         error_set(error, FAILURE_RETRY, "out of memory");
}

static void room_release(struct push_room *room) {
  free(room->changes);
  free(room->pointers);
  free(room->offsets);
  buffer_release(&room->keys);
}

/* The documents that were asked for would seem to be gone. */
static bool refuse_strange(const struct document *document, const char *key, struct error *error) {
  error_set(error, FAILURE_REFUSED, "the document's query returned a row whose %s is none of the keys in $1",
            document->key_name);
  error_detail(error, "It is %s.", key != NULL ? key : "null");
  return error_hint(error, "The document's key has to be what its query compares with $1: add it with another one.");
}

static bool refuse_repeated(const char *key, struct error *error) {
  error_set(error, FAILURE_REFUSED, "the document's query returned several rows for one key");
  error_detail(error, "The key is %s.", key);
  return error_hint(error, "A document is one row: gather what is many, as with string_agg() and group by.");
}

/* Gives each change of the push what was built for it. */
static bool fill_room(struct push_room *room, const struct document *document, const struct push *push,
                      const PGresult *built, struct error *error) {
  for (size_t i = 0; i < push->count; i++) {
    room->changes[i] = *push->changes[i];
    room->pointers[i] = &room->changes[i];
  }
  for (int row = 0; row < PQntuples(built); row++) {
    const char *key = result_text(built, row, BUILT_KEY);
    size_t i = key != NULL ? find_key(push, key) : push->count;
    if (i == push->count)
      return refuse_strange(document, key, error);
    if (room->changes[i].new_row != NULL)
      return refuse_repeated(key, error);
    room->changes[i].new_row = result_text(built, row, BUILT_ROW);
    room->changes[i].text_columns = result_text(built, row, BUILT_TEXT_COLUMNS);
    room->bytes += (size_t)PQgetlength(built, row, BUILT_ROW);
  }
  for (size_t i = 0; i < push->count; i++) {
    if (room->changes[i].new_row != NULL)
      continue;
    room->offsets[i] = room->keys.length;
    buffer_add_format(&room->keys, "{%s:", document->key_name);
    buffer_add_json_string(&room->keys, push->changes[i]->key);
    buffer_add(&room->keys, "}", 2); /* with its NUL */
    room->changes[i].operation = OPERATION_DELETE;
  }
  for (size_t i = 0; i < push->count; i++)
    if (room->changes[i].operation == OPERATION_DELETE)
      room->changes[i].old_row = room->keys.data + room->offsets[i];
  return buffer_ok(&room->keys, "a list of keys", error);
}

static void learn(struct document *document, const struct settings *settings, size_t count, size_t bytes,
                  int64_t elapsed) {
  double by_time = elapsed > 0 ? (double)BUILD_TIME / (double)elapsed : 4;
  double by_size = bytes > 0 ? (double)settings->batch_bytes / (double)bytes : 4;
  double factor = by_time < by_size ? by_time : by_size;
  double wanted = (double)count * (factor < 4 ? factor : 4);
  /* A small lot says little about a large one. */
  if (wanted < (double)document->keys_at_once && factor >= 1)
    return;
  document->keys_at_once = wanted < 1 ? 1 : wanted > (double)MOST_KEYS_AT_ONCE ? MOST_KEYS_AT_ONCE : (size_t)wanted;
}

/* Notes where the changes are that there was no time for; *left of them. */
static void find_later(const struct push *push, size_t *indexes, size_t *left) {
  *left = 0;
  for (size_t i = 0; i < push->count; i++)
    if (push->verdicts[i].kind == VERDICT_LATER)
      indexes[(*left)++] = i;
}

/*
 * Pushes once more what the target had no time for, until all is done: documents are settled together, so what went
 * back to the queue would be built and sent over and over.
 */
static bool push_later(const struct builder *builder, const struct push *push, struct error *error) {
  size_t *indexes = calloc(push->count, sizeof *indexes);
  const struct change **changes = calloc(push->count, sizeof *changes);
  struct verdict *verdicts = calloc(push->count, sizeof *verdicts);
  bool ok = indexes != NULL && changes != NULL && verdicts != NULL;
  size_t left = 0;
  if (ok)
    find_later(push, indexes, &left);
  else
    error_set(error, FAILURE_RETRY, "out of memory");
  while (ok && left > 0) {
    struct push rest = *push;
    rest.changes = changes;
    rest.verdicts = verdicts;
    rest.count = left;
    for (size_t i = 0; i < left; i++) {
      changes[i] = push->changes[indexes[i]];
      verdicts[i] = (struct verdict){.kind = VERDICT_NONE};
    }
    /* The source would take a connection that says nothing for so long for dead. */
    pgconn_set_deadline(source_connection(builder->source), SOURCE_TIMEOUT);
    ok = source_script(builder->source, "select 1", error) && target_push(builder->target, &rest, error);
    for (size_t i = 0; i < left; i++) {
      if (ok && verdicts[i].kind == VERDICT_NONE)
        verdicts[i].kind = VERDICT_DELIVERED;
      push->verdicts[indexes[i]] = verdicts[i];
    }
    size_t before = left;
    find_later(push, indexes, &left);
    if (ok && left == before)
      ok = error_set(error, FAILURE_RETRY, "the target took longer than push_timeout");
  }
  free(indexes);
  free(changes);
  free(verdicts);
  return ok;
}

static bool push_some(const struct builder *builder, const struct push *push, struct error *error) {
  struct push_room room = {.changes = NULL};
  PGresult *built = NULL;
  int64_t began = clock_now();
  pgconn_set_deadline(source_connection(builder->source), SOURCE_TIMEOUT);
  bool ok = room_init(&room, push->count, error) && build(builder, push, &built, error) &&
            fill_room(&room, builder->document, push, built, error);
  if (ok) {
    learn(builder->document, builder->settings, push->count, room.bytes, clock_now() - began);
    struct push filled = *push;
    filled.changes = room.pointers;
    ok = target_push(builder->target, &filled, error) && push_later(builder, &filled, error);
  }
  PQclear(built);
  room_release(&room);
  return ok;
}

bool document_push(const struct builder *builder, const struct push *push, struct error *error) {
  for (size_t done = 0; done < push->count;) {
    struct push some = *push;
    some.changes = push->changes + done;
    some.verdicts = push->verdicts + done;
    some.count = push->count - done;
    if (some.count > builder->document->keys_at_once)
      some.count = builder->document->keys_at_once;
    /* The table of keys was emptied: that comes alone, and needs no query. */
    bool ok = some.changes[0]->operation == OPERATION_TRUNCATE ? target_push(builder->target, &some, error)
                                                               : push_some(builder, &some, error);
    if (!ok)
      return false;
    for (size_t i = 0; i < some.count; i++)
      if (some.verdicts[i].kind == VERDICT_NONE)
        some.verdicts[i].kind = VERDICT_DELIVERED;
    done += some.count;
  }
  return true;
}

/* ---- what became of them --------------------------------------------------------------------------------------- */

static void add_member(struct buffer *list, const char *name, const char *text) {
  buffer_add_format(list, ",\"%s\":", name);
  buffer_add_json_string(list, text[0] != '\0' ? text : NULL);
}

static void add_refused(struct buffer *list, const struct change *change, const struct fate *fate) {
  static const struct error unknown = {.message = "it was refused"};
  char kind[ERROR_KIND_SIZE];
  const struct error *why = fate->why != NULL ? fate->why : &unknown;
  buffer_add_format(list, "%s{\"attempts\":%d", list->length == 0 ? "[" : ",", fate->attempts);
  add_member(list, "key", change->key);
  add_member(list, "sqlstate", why->sqlstate);
  add_member(list, "message", why->message);
  error_kind(why, kind, sizeof kind);
  add_member(list, "kind", strcmp(kind, why->message) != 0 ? kind : "");
  add_member(list, "detail", why->detail);
  buffer_add_string(list, "}");
}

bool document_note(const struct document *document, struct source *source, const struct outcomes *outcomes, bool halts,
                   struct error *error) {
  const struct batch *batch = outcomes->batch;
  struct number target = number(document->target);
  const char *first_refused = NULL;
  struct buffer refused;
  struct buffer built;
  buffer_init(&refused, LIST_LIMIT);
  buffer_init(&built, LIST_LIMIT);
  for (size_t i = 0; i < batch->count; i++) {
    const struct change *change = &batch->changes[i];
    if (change->key == NULL)
      continue;
    if (outcomes->fates[i].outcome == OUTCOME_REFUSED) {
      first_refused = first_refused == NULL ? change->key : first_refused;
      add_refused(&refused, change, &outcomes->fates[i]);
    } else if (batch->receipt.has_refusals) {
      buffer_add_string(&built, built.length == 0 ? "[" : ",");
      buffer_add_json_string(&built, change->key);
    }
  }
  bool ok = true;
  if (!buffer_is_empty(&refused)) {
    char key[101];
    char reason[256];
    text_print(key, sizeof key, "%s", first_refused);
    snprintf(reason, sizeof reason, "the document with key %s was refused: retry or skip it, then resume", key);
    buffer_add_string(&refused, "]");
    ok = buffer_ok(&refused, "a list of refused documents", error) &&
         source_run(source, &QUERY_document_refused, VALUES(target.text, refused.data), NULL, error) &&
         (!halts || source_run(source, &QUERY_target_halt, VALUES(target.text, reason), NULL, error));
  }
  if (ok && !buffer_is_empty(&built)) {
    buffer_add_string(&built, "]");
    ok = buffer_ok(&built, "a list of keys", error) &&
         source_run(source, &QUERY_document_built, VALUES(target.text, built.data), NULL, error);
  }
  buffer_release(&refused);
  buffer_release(&built);
  return ok;
}
