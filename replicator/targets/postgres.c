/*
 * A PostgreSQL database as target. `postgresql://…` is another database: each push is a transaction there, behind the
 * fence. `postgresql:` alone is the source itself: the push is part of the claim's own transaction, so that changes
 * leave the queue and arrive in one commit, and no fence is needed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "postgres/number.h"
#include "postgres/sqlstate.h"
#include "targets/append.h"
#include "targets/fence.h"
#include "targets/itself.h"
#include "targets/likeness.h"
#include "targets/mirror.h"
#include "targets/origin.h"
#include "targets/passed.h"
#include "targets/pg_session.h"
#include "targets/target.h"

static const struct query COMMIT = {.name = NULL, .text = "commit"};

/*
 * In the source itself deferred constraints are checked with each push, when it is known whose changes violate them: at
 * the end of the claim they would stop the whole target. For the next push of the same claim they are deferred again.
 */
static const struct query CHECK_CONSTRAINTS = {.name = NULL, .text = "set constraints all immediate"};
static const struct query DEFER_CONSTRAINTS = {.name = NULL, .text = "set constraints all deferred"};

/*
 * A batch is as large as a tenth of push_timeout allows, so a push of other lanes holds its locks for no longer. Who
 * waits longer waits for somebody else's lock: the table that is locked is held, long before push_timeout is over.
 */
#define PUSHES_IN_TIMEOUT 10
static const struct query LIMIT_LOCK_WAITS = {.text = "select pg_catalog.set_config('lock_timeout', $1, $2)"};

/*
 * Around a push into the source itself. Names of tables, types and operators there follow the user's search_path; and
 * hash joins, which are disabled for the queue's sake, are wanted here.
 */
static const char BEGIN_PUSH[] =
    "savepoint rowrelay_push;"
    "set local search_path to default; set local enable_hashjoin to on; set local row_security to off";
static const char END_PUSH[] =
    "release savepoint rowrelay_push; set local lock_timeout to '30s';"
    "set local search_path to pg_catalog; set local enable_hashjoin to off; set local row_security to default";
#define MOST_GIVING_WAY 64                /* constraints that a mirror drops in one push */
#define ALREADY_APPLIED "already applied" /* in receipts */
static const char UNDO_PUSH[] = "rollback to savepoint rowrelay_push; release savepoint rowrelay_push";

struct postgres {
  const struct settings *settings;
  struct pgconn *connection;
  bool is_source; /* the connection is the source's, and so is the transaction */
  struct fence fence;
  struct itself itself;
  struct origin origin;
  struct mirror *mirror; /* one of these two */
  struct append *append;
};

static bool postgres_wants_details(const struct settings *settings) {
  return settings->append;
}

static void postgres_close(void *handle) {
  struct postgres *postgres = handle;
  if (postgres == NULL)
    return;
  mirror_free(postgres->mirror, postgres->connection);
  append_free(postgres->append, postgres->connection);
  fence_release(&postgres->fence);
  itself_release(&postgres->itself);
  origin_release(&postgres->origin);
  if (!postgres->is_source)
    pgconn_close(postgres->connection);
  free(postgres);
}

/* `postgresql:` and `postgres:` with nothing behind them */
static bool is_source_itself(const char *url) {
  return url[strcspn(url, ":") + 1] == '\0';
}

static bool limit_lock_waits(const struct postgres *postgres, struct error *error) {
  return pgconn_run(
      postgres->connection, &LIMIT_LOCK_WAITS,
      VALUES(number(postgres->settings->push_timeout / PUSHES_IN_TIMEOUT).text, postgres->is_source ? "true" : "false"),
      NULL, error);
}

static bool postgres_open(void **handle, const struct settings *settings, const char *url, struct source *source,
                          struct error *error) {
  struct postgres *postgres = calloc(1, sizeof *postgres);
  if (postgres == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  postgres->settings = settings;
  postgres->is_source = is_source_itself(url);
  fence_init(&postgres->fence);
  itself_init(&postgres->itself);
  origin_init(&postgres->origin, settings->source_id, postgres->is_source);
  bool ok = itself_read(&postgres->itself, source, error) &&
            (settings->append ? append_new(&postgres->append, error)
                              : mirror_new(&postgres->mirror, postgres->is_source ? NULL : settings->source_id,
                                           &postgres->origin, error));
  if (ok && postgres->is_source) {
    postgres->connection = source_connection(source);
  } else if (ok) {
    ok = session_open(&postgres->connection, settings, url, error) &&
         fence_raise_dropped(postgres->connection, settings->source_id, source, error) &&
         fence_look(postgres->connection, settings, source, error) && limit_lock_waits(postgres, error);
  }
  if (!ok) {
    postgres_close(postgres);
    return false;
  }
  *handle = postgres;
  return true;
}

static bool prepare(struct postgres *postgres, const struct push *push, struct error *error) {
  struct pgconn *connection = postgres->connection;
  if (!itself_check(&postgres->itself, connection, push, error))
    return false;
  bool ok = postgres->append != NULL ? append_prepare(postgres->append, connection, postgres->is_source, push, error)
                                     : mirror_prepare(postgres->mirror, connection, postgres->is_source, push, error);
  if (!ok && sqlstate_is_lock_wait(error->sqlstate)) /* to make a table, or to add a column */
    error->kind = FAILURE_TABLE;
  return ok;
}

/* Passes the push's fence first, if it is asked to, and commits after it, unless the target is the source. */
static bool write_changes(struct postgres *postgres, const struct push *push, bool passes_fence, struct error *error) {
  struct pgconn *connection = postgres->connection;
  struct error failed;
  const char *source_id = postgres->settings->source_id;
  /* One change may make many documents stale, which are pushed in parts: they are not counted. */
  bool counts = postgres->mirror != NULL && !postgres->settings->document;
  for (size_t i = 0; i < push->count; i++)
    push->verdicts[i].unfound = false; /* of a push that was rolled back */
  pgconn_pipeline_begin(connection);
  if (passes_fence)
    fence_pass_new(&postgres->fence, connection, source_id, push, counts);
  bool added = postgres->append != NULL ? append_add(postgres->append, connection, &postgres->origin, push, &failed)
                                        : mirror_add(postgres->mirror, connection, push,
                                                     postgres->is_source ? NULL : &postgres->fence, &failed);
  if (!postgres->is_source && postgres->mirror != NULL && !(passes_fence && counts))
    fence_note(connection, source_id, push);
  /* A pipeline that was begun must be run; the caller rolls back what it has done. */
  if (added && postgres->is_source) {
    pgconn_pipeline_add(connection, &CHECK_CONSTRAINTS, NO_VALUES);
    pgconn_pipeline_add(connection, &DEFER_CONSTRAINTS, NO_VALUES);
  } else if (added) {
    pgconn_pipeline_add(connection, &COMMIT, NO_VALUES);
  }
  bool ran = pgconn_pipeline_run(connection, NULL, 0, error);
  if (!added)
    *error = failed;
  if (!ran || !added)
    origin_forget(&postgres->origin);
  return ran && added;
}

static void forget(struct postgres *postgres) {
  itself_forget(&postgres->itself);
  if (postgres->append != NULL)
    append_forget(postgres->append, postgres->connection);
  else
    mirror_forget(postgres->mirror, postgres->connection);
}

/*
 * The server works, but a table there does not take its changes: the one of whose statement the server has said so; not
 * known of a commit.
 */
static bool blame_table(const struct postgres *postgres, const struct push *push, struct error *error) {
  int capture = pgconn_failed_topic(postgres->connection);
  if (sqlstate_is_lock_wait(error->sqlstate))
    error_hint(error, "another session has locked this table, or a row of it, at the target: end that, or wait");
  if (capture > 0)
    return push_hold(push, capture, error);
  error->kind = FAILURE_TABLE;
  return false;
}

/*
 * The same for prepared changes, in one round trip; in two more, if the fence has refused that, and with a barrier.
 */
static bool write_prepared(struct postgres *postgres, const struct push *push, struct error *error) {
  bool fenced = !postgres->is_source;
  bool at_once = !fenced || fence_can_be_passed_new(push);
  if (at_once && write_changes(postgres, push, fenced, error))
    return true;
  if (fenced && (!at_once || pgconn_failed_topic(postgres->connection) == FENCE_TOPIC)) {
    if (at_once)
      pgconn_rollback(postgres->connection);
    if (!fence_pass(&postgres->fence, postgres->connection, postgres->settings->source_id, push, error))
      return false;
    if (write_changes(postgres, push, false, error))
      return true;
  }
  /* Of type regclass and the like, a row may name what the target lacks: that is not its table. */
  if (sqlstate_is_of_a_name(error->sqlstate) && pgconn_last_violation(postgres->connection)->by_value)
    error->kind = FAILURE_REFUSED;
  else if (sqlstate_is_of_a_table(error->sqlstate) && pgconn_alive(postgres->connection))
    return blame_table(postgres, push, error);
  /*
   * A mirror that refuses a truncate must not get later changes: the truncate, when repeated, would remove these as
   * well. Rows of other tables that refer to it may be deleted soon.
   */
  const struct change *first = push->changes[0];
  if (error->kind == FAILURE_REFUSED && first->operation == OPERATION_TRUNCATE && postgres->mirror != NULL &&
      !postgres->settings->document)
    return push_hold(push, first->capture, error);
  return false;
}

/*
 * Whether the push took too long. A statement that was cancelled earlier was so by somebody at the target. Ends what
 * may still run there, so that it does not block the next push.
 */
static bool is_late(struct postgres *postgres, int64_t began, const struct error *error) {
  bool late = error->kind == FAILURE_RETRY && clock_now() - began >= postgres->settings->push_timeout;
  if (late && strcmp(error->sqlstate, "57014") != 0)
    pgconn_cancel(postgres->connection);
  return late;
}

/* What an earlier delivery has applied. */
static void answer_applied(const struct postgres *postgres, const struct push *push, size_t index) {
  int64_t id = push->changes[index]->id;
  if (!fence_has(&postgres->fence, id))
    return;
  verdict_answer(&push->verdicts[index], ALREADY_APPLIED);
  push->verdicts[index].unfound = push->verdicts[index].unfound || fence_was_unfound(&postgres->fence, id);
}

static bool push_to_other(struct postgres *postgres, const struct push *push, struct error *error) {
  int64_t began = clock_now();
  pgconn_set_deadline(postgres->connection, postgres->settings->push_timeout);
  bool ok = prepare(postgres, push, error) && write_prepared(postgres, push, error);
  if (!ok && is_late(postgres, began, error))
    error->kind = FAILURE_LATE;
  if (!ok)
    pgconn_rollback(postgres->connection);
  for (size_t i = 0; ok && i < push->count && postgres->mirror != NULL; i++)
    answer_applied(postgres, push, i);
  return ok;
}

static bool push_to_source(struct postgres *postgres, const struct push *push, struct error *error) {
  struct pgconn *connection = postgres->connection;
  pgconn_set_deadline(connection, postgres->settings->push_timeout);
  origin_forget(&postgres->origin);
  bool ok = pgconn_script(connection, BEGIN_PUSH, error) && limit_lock_waits(postgres, error) &&
            session_set_origin(connection, postgres->settings->source_id, true, error) &&
            prepare(postgres, push, error) && write_prepared(postgres, push, error) &&
            pgconn_script(connection, END_PUSH, error);
  if (ok)
    return true;
  struct error ignored;
  if (!pgconn_script(connection, UNDO_PUSH, &ignored))
    error->kind = FAILURE_RETRY;
  /* The rollback has also removed tables created for them. */
  forget(postgres);
  return false;
}

/* PostgreSQL reports nothing about single rows; what was done with each follows from its operation. */
static const char *what_was_done(const struct postgres *postgres, const struct change *change) {
  if (postgres->append != NULL)
    return "appended";
  switch (change->operation) {
  case OPERATION_DELETE:
    return "deleted";
  case OPERATION_TRUNCATE:
    return change->new_row == NULL ? "truncated" : "deleted";
  default:
    return "stored";
  }
}

/* A mirror that was created like its table may refuse what the table takes since: then it gives way. */
static bool give_way(struct postgres *postgres, const struct push *push, struct error *error) {
  struct pgconn *connection = postgres->connection;
  bool gave_way = false;
  if (postgres->mirror == NULL || !likeness_may_be_why(push, error) || !pgconn_alive(connection))
    return false;
  if (likeness_may_be_outdated(connection, push, error)) {
    error->kind = FAILURE_TABLE;
    return false;
  }
  if (!postgres->is_source) {
    if (!likeness_give_way(connection, false, push, &gave_way, error)) {
      pgconn_rollback(connection);
      error->kind = sqlstate_is_lock_wait(error->sqlstate) ? FAILURE_TABLE : error->kind;
    }
    return gave_way;
  }
  if (pgconn_script(connection, BEGIN_PUSH, error) && likeness_give_way(connection, true, push, &gave_way, error) &&
      pgconn_script(connection, END_PUSH, error))
    return gave_way;
  struct error ignored;
  if (!pgconn_script(connection, UNDO_PUSH, &ignored))
    error->kind = FAILURE_RETRY;
  return false;
}

static bool push_once(struct postgres *postgres, const struct push *push, struct error *error) {
  return postgres->is_source ? push_to_source(postgres, push, error) : push_to_other(postgres, push, error);
}

static bool push_all(struct postgres *postgres, const struct push *push, struct error *error) {
  bool ok = push_once(postgres, push, error);
  for (int i = 0; !ok && i < MOST_GIVING_WAY && give_way(postgres, push, error); i++)
    ok = push_once(postgres, push, error);
  /* What is known of the table may be out of date; a fresh look can tell what is wrong. */
  if (!ok && error->kind == FAILURE_TABLE)
    forget(postgres);
  for (size_t i = 0; ok && i < push->count; i++)
    verdict_answer(&push->verdicts[i], what_was_done(postgres, push->changes[i]));
  return ok;
}

/* The tables' names at the source itself are those that a push there finds. */
static bool find_passed(struct postgres *postgres, struct passed *passed, const struct push *push,
                        struct error *error) {
  struct pgconn *connection = postgres->connection;
  struct error ignored;
  pgconn_set_deadline(connection, postgres->settings->push_timeout);
  if ((!postgres->is_source || pgconn_script(connection, BEGIN_PUSH, error)) &&
      passed_find(passed, connection, push, error) &&
      (!postgres->is_source || pgconn_script(connection, END_PUSH, error)))
    return true;
  if (postgres->is_source && !pgconn_script(connection, UNDO_PUSH, &ignored))
    error->kind = FAILURE_RETRY;
  return false;
}

static bool postgres_push(void *handle, const struct push *push, struct error *error) {
  struct postgres *postgres = handle;
  if (!passed_may_be(push))
    return push_all(postgres, push, error);
  struct passed passed = {.indexes = NULL};
  bool ok = find_passed(postgres, &passed, push, error) && push_all(postgres, &passed.rest, error);
  passed_answer(&passed, push);
  passed_release(&passed);
  return ok;
}

/* Rows without a key are inserted again if they come again. */
static bool postgres_recall(void *handle, const struct push *push, struct error *error) {
  struct postgres *postgres = handle;
  struct pgconn *connection = postgres->connection;
  if (postgres->is_source)
    return true;
  pgconn_set_deadline(connection, postgres->settings->push_timeout);
  if (!fence_pass(&postgres->fence, connection, postgres->settings->source_id, push, error) ||
      !pgconn_run(connection, &COMMIT, NO_VALUES, NULL, error)) {
    pgconn_rollback(connection);
    return false;
  }
  for (size_t i = 0; i < push->count; i++) {
    if (!change_is_keyless(push->changes[i]) || !fence_has(&postgres->fence, push->changes[i]->id))
      continue;
    push->verdicts[i].kind = VERDICT_DELIVERED;
    answer_applied(postgres, push, i);
  }
  return true;
}

static const struct target_url URLS[] = {
    {"postgresql", "postgresql://HOST/DATABASE",
     "another PostgreSQL database; postgresql: alone means the source itself"},
    {"postgres", NULL, NULL}, /* libpq takes both */
    {NULL, NULL, NULL},
};

static const struct target_url_rule URL_RULES[] = {
    {.pattern = "^[a-z]+:(//.*)?$",
     .problem = "names no database",
     .hint = "Write postgresql://HOST/DATABASE, or postgresql: for the source itself."},
    {.pattern = NULL},
};

static const struct target_option OWN_OPTIONS[] = {
    {.name = "mode",
     .help = "whether a table there mirrors its source, or gets a row for each change",
     .choices = "mirror|append",
     .initial = "mirror"},
    TARGET_OPTION_END,
};
static const struct target_option *const OPTIONS[] = {OWN_OPTIONS, NULL};

const struct target_kind TARGET_POSTGRESQL = {.name = "postgresql",
                                              .urls = URLS,
                                              .url_rules = URL_RULES,
                                              .options = OPTIONS,
                                              /* With more in a batch a row that changes often is written less often. */
                                              .batch_rows = "10000",
                                              .keeps_state = true,
                                              .overwrites = true,
                                              .looks_at_start = true,
                                              .wants_details = postgres_wants_details,
                                              .open = postgres_open,
                                              .push = postgres_push,
                                              .recall = postgres_recall,
                                              .close = postgres_close};
