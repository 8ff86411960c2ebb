#include "targets/fence.h"

#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "postgres/number.h"
#include "postgres/result.h"
#include "postgres/sqlstate.h"
#include "queries.h"
#include "targets/ddl.h"
#include "targets/loss.h"

/* Array literals of lanes and change ids. */
#define ARRAY_LIMIT ((size_t)16 * 1024 * 1024)

static const struct query BEGIN = {.name = NULL, .text = "begin"};

bool fence_create(struct pgconn *connection, struct error *error) {
  if (ddl_run(connection, false, &QUERY_ONCE(QUERY_fence_create), NO_VALUES, error))
    return true;
  if (error->kind == FAILURE_FATAL && error->hint[0] == '\0')
    error_hint(error, strstr(error->message, "schema rowrelay_target") != NULL
                          ? "another role made this schema: deliver as that role, or as a member of it"
                          : "grant the target's user CREATE on its database; it is needed once, for schema "
                            "rowrelay_target");
  return false;
}

void fence_init(struct fence *fence) {
  *fence = (struct fence){.count = 0};
}

void fence_release(struct fence *fence) {
  free(fence->applied);
  free(fence->unfound);
  fence_init(fence);
}

/* Whatever their signs are, see fence_note.sql. */
static int by_id(const void *a, const void *b) {
  int64_t left = llabs(*(const int64_t *)a);
  int64_t right = llabs(*(const int64_t *)b);
  return (left > right) - (left < right);
}

static bool add_ids(int64_t **ids, size_t *count, const char *literal, struct error *error) {
  for (const char *c = literal + 1; *c == '-' || (*c >= '0' && *c <= '9');) {
    if ((*count & (*count - 1)) == 0) {
      int64_t *grown = realloc(*ids, (*count == 0 ? 1 : 2 * *count) * sizeof *grown);
      if (grown == NULL)
        return error_set(error, FAILURE_RETRY, "out of memory");
      *ids = grown;
    }
    char *end;
    (*ids)[(*count)++] = strtoll(c, &end, 10);
    c = *end == ',' ? end + 1 : end;
  }
  return true;
}

bool fence_add(struct fence *fence, const char *literal, struct error *error) {
  return add_ids(&fence->applied, &fence->count, literal, error);
}

void fence_order(struct fence *fence) {
  if (fence->count > 0)
    qsort(fence->applied, fence->count, sizeof *fence->applied, by_id);
}

static void write_lanes(struct buffer *array, const struct push *push) {
  for (size_t i = 0; i < push->lane_count; i++)
    buffer_add_format(array, "%c%d", i == 0 ? '{' : ',', push->lanes[i]);
  buffer_add_string(array, "}");
}

/* A later claim has passed: which one. */
static bool tell_newer(struct pgconn *connection, const char *source_id, const char *lanes, int64_t token,
                       struct error *error) {
  PGresult *reply = NULL;
  if (!pgconn_run(connection, &QUERY_fence_latest, VALUES(source_id, lanes), &reply, error))
    return false;
  error_set(error, FAILURE_FENCED, "another process has claimed the same lanes since claim %lld", (long long)token);
  error->newer = result_bigint(reply, 0, 0);
  PQclear(reply);
  return false;
}

bool fence_pass(struct fence *fence, struct pgconn *connection, const char *source_id, const struct push *push,
                struct error *error) {
  struct buffer lanes;
  buffer_init(&lanes, ARRAY_LIMIT);
  write_lanes(&lanes, push);

  PGresult *replies[3] = {NULL, NULL, NULL};
  fence->count = fence->unfound_count = 0;
  bool ok = buffer_ok(&lanes, "the list of lanes", error);
  if (ok) {
    pgconn_pipeline_begin(connection);
    pgconn_pipeline_add(connection, &BEGIN, NO_VALUES);
    pgconn_pipeline_add(connection, &QUERY_fence_pass, VALUES(source_id, lanes.data, number(push->token).text));
    pgconn_pipeline_add(connection, &QUERY_fence_unfound, VALUES(source_id, lanes.data));
    ok = pgconn_pipeline_run(connection, replies, 3, error);
  }
  if (ok && PQntuples(replies[1]) < (int)push->lane_count)
    ok = tell_newer(connection, source_id, lanes.data, push->token, error);
  for (int row = 0; ok && row < PQntuples(replies[1]); row++)
    ok = fence_add(fence, PQgetvalue(replies[1], row, 0), error);
  for (int row = 0; ok && row < PQntuples(replies[2]); row++)
    ok = add_ids(&fence->unfound, &fence->unfound_count, PQgetvalue(replies[2], row, 0), error);
  fence_order(fence);
  for (int i = 0; i < 3; i++)
    PQclear(replies[i]);
  buffer_release(&lanes);
  return ok;
}

/* Of a push's changes: what the fence records, one array literal for each column. */
struct notes {
  struct buffer lanes;
  struct buffer ids;
  struct buffer rows;
};

/* `push` NULL: of none. */
static void notes_init(struct notes *notes, const struct push *push) {
  size_t count = push == NULL ? 0 : push->count;
  buffer_init(&notes->lanes, ARRAY_LIMIT);
  buffer_init(&notes->ids, ARRAY_LIMIT);
  buffer_init(&notes->rows, ARRAY_LIMIT);
  for (size_t i = 0; i < count; i++) {
    char separator = i == 0 ? '{' : ',';
    buffer_add_format(&notes->lanes, "%c%d", separator, push->changes[i]->lane);
    buffer_add_format(&notes->ids, "%c%lld", separator, (long long)push->changes[i]->id);
    buffer_add_format(&notes->rows, "%c%lld", separator, (long long)fence_row(push->changes[i]));
  }
  const char *end = count == 0 ? "{}" : "}";
  buffer_add_string(&notes->lanes, end);
  buffer_add_string(&notes->ids, end);
  buffer_add_string(&notes->rows, end);
}

static void notes_need(const struct notes *notes, struct pgconn *connection) {
  pgconn_pipeline_needs(connection, &notes->lanes, "the list of lanes");
  pgconn_pipeline_needs(connection, &notes->ids, "the list of changes");
  pgconn_pipeline_needs(connection, &notes->rows, "the list of rows");
}

static void notes_release(struct notes *notes) {
  buffer_release(&notes->lanes);
  buffer_release(&notes->ids);
  buffer_release(&notes->rows);
}

void fence_pass_new(struct fence *fence, struct pgconn *connection, const char *source_id, const struct push *push,
                    bool counts) {
  struct buffer lanes;
  struct notes notes;
  buffer_init(&lanes, ARRAY_LIMIT);
  write_lanes(&lanes, push);
  notes_init(&notes, counts ? push : NULL);
  fence->count = fence->unfound_count = 0;
  pgconn_pipeline_needs(connection, &lanes, "the list of lanes");
  notes_need(&notes, connection);
  pgconn_pipeline_add(connection, &BEGIN, NO_VALUES);
  pgconn_pipeline_topic(connection, FENCE_TOPIC);
  pgconn_pipeline_add(connection, &QUERY_fence_pass_new,
                      VALUES(source_id, lanes.data, number(push->token).text, notes.lanes.data, notes.ids.data,
                             notes.rows.data, number(push->first_id).text));
  pgconn_pipeline_topic(connection, 0);
  notes_release(&notes);
  buffer_release(&lanes);
}

bool fence_raise(struct pgconn *connection, const char *source_id, const char *lanes, const char *token,
                 struct error *error) {
  return pgconn_run(connection, &QUERY_fence_pass, VALUES(source_id, lanes, token), NULL, error);
}

bool fence_raise_dropped(struct pgconn *connection, const char *source_id, struct source *source, struct error *error) {
  PGresult *reply = NULL;
  bool ok = source_run(source, &QUERY_dropped_lanes, NO_VALUES, &reply, error);
  if (ok && PQntuples(reply) > 0)
    ok = fence_raise(connection, source_id, PQgetvalue(reply, 0, DROPPED_LANES), PQgetvalue(reply, 0, DROPPED_TOKEN),
                     error);
  PQclear(reply);
  return ok;
}

bool fence_look(struct pgconn *connection, const struct settings *settings, struct source *source,
                struct error *error) {
  PGresult *confirmed = NULL;
  PGresult *lost = NULL;
  bool ok = source_run(source, &QUERY_confirmed_claims, VALUES(number(settings->target).text), &confirmed, error);
  if (ok && !PQgetisnull(confirmed, 0, CONFIRMED_LANES))
    ok = pgconn_run(connection, &QUERY_fence_lost,
                    VALUES(settings->source_id, PQgetvalue(confirmed, 0, CONFIRMED_LANES),
                           PQgetvalue(confirmed, 0, CONFIRMED_TOKENS)),
                    &lost, error);
  if (lost != NULL && PQntuples(lost) > 0)
    loss_tell(settings, "the last claim", result_bigint(lost, 0, 0), result_bigint(lost, 0, 1));
  PQclear(confirmed);
  PQclear(lost);
  return ok;
}

static const int64_t *find(const struct fence *fence, int64_t change_id) {
  return fence->count > 0 ? bsearch(&change_id, fence->applied, fence->count, sizeof change_id, by_id) : NULL;
}

bool fence_has(const struct fence *fence, int64_t change_id) {
  return find(fence, change_id) != NULL;
}

bool fence_was_unfound(const struct fence *fence, int64_t change_id) {
  for (size_t i = 0; i < fence->unfound_count; i++)
    if (fence->unfound[i] == change_id)
      return fence_has(fence, change_id);
  return false;
}

bool fence_has_since(const struct fence *fence, int64_t change_id) {
  const int64_t *found = find(fence, change_id);
  return found != NULL && *found > 0;
}

/* FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/ */
static uint64_t add_text(uint64_t hash, const char *text) {
  for (const char *c = text; c != NULL && *c != '\0'; c++)
    hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
  return hash;
}

int64_t fence_row(const struct change *change) {
  /* That of a table, which may have been captured twice; one that has no key is of its keyless rows. */
  uint64_t hash = add_text(UINT64_C(14695981039346656037), change->route->into_table);
  if (change->key == NULL)
    return change->route->keyless ? (int64_t)hash : 0;
  return (int64_t)(change->has_hash ? hash * UINT64_C(31) + (uint64_t)change->hash : add_text(hash, change->key));
}

static const struct change *barrier_of(const struct push *push) {
  for (size_t i = 0; i < push->count; i++)
    if (lane_is_of_barriers(push->changes[i]->lane))
      return push->changes[i];
  return NULL;
}

bool fence_can_be_passed_new(const struct push *push) {
  return barrier_of(push) == NULL;
}

/* What a barrier of the push follows, or goes before, may be of any lane. */
static void note_barrier(struct pgconn *connection, const char *source_id, const struct push *push) {
  const struct change *barrier = barrier_of(push);
  if (barrier == NULL)
    return;
  struct buffer lanes;
  buffer_init(&lanes, ARRAY_LIMIT);
  write_lanes(&lanes, push);
  pgconn_pipeline_needs(connection, &lanes, "the list of lanes");
  pgconn_pipeline_add(connection, &QUERY_fence_note_barrier,
                      VALUES(source_id, lanes.data, number(barrier->id).text, number(push->first_id).text));
  buffer_release(&lanes);
}

void fence_note(struct pgconn *connection, const char *source_id, const struct push *push) {
  struct notes notes;
  note_barrier(connection, source_id, push);
  if (push->count == 0)
    return;
  notes_init(&notes, push);
  notes_need(&notes, connection);
  pgconn_pipeline_add(
      connection, &QUERY_fence_note,
      VALUES(source_id, notes.lanes.data, notes.ids.data, notes.rows.data, number(push->first_id).text));
  notes_release(&notes);
}
