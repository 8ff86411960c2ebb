#include "backfill/copy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "common/clock.h"
#include "common/text.h"
#include "common/url.h"
#include "postgres/copy_stream.h"
#include "postgres/number.h"
#include "postgres/result.h"
#include "postgres/session.h"
#include "queries.h"
#include "source/route.h"
#include "source/settings.h"
#include "targets/coarse.h"
#include "targets/ddl.h"
#include "targets/fence.h"
#include "targets/likeness.h"
#include "targets/pg_session.h"

/* Rows of the queue to look at in one transaction; with ROWS_LAST writers wait for it. */
#define ROWS_HELD 20000
#define ROWS_JOINED 20000
#define ROWS_LAST 2000

/* Milliseconds. */
#define DEADLINE 60000      /* of what is asked of either side */
#define WAIT_PAUSE 200      /* before looking again whether others have ended */
#define FLIGHT_PAUSE 50     /* before looking again whether what is in flight has arrived */
#define AGAIN_PAUSE 1000    /* before the target is tried again */
#define GIVE_WAY_PAUSE 5000 /* before copying again after others wanted the table */
#define TICK 1000           /* between looks at the source while rows are copied */

#define MOST_GIVING_WAY 3 /* before it is done piece by piece */

/* One step. */
struct copy {
  struct backfill *backfill;
  struct backfill_progress *progress;
  PGresult *state;
  const char *name; /* of the target */
  struct settings *settings;
  struct routes routes;
  const struct route *route;
  struct pgconn *target;  /* NULL: not connected */
  PGresult *table;        /* at the target */
  struct source *reading; /* the connection that copies out; NULL: there is none */
  char *snapshot;         /* that it copies; owned */
  int64_t ticked_at;
  bool wanted;      /* another session waited for the table at the last tick */
  bool gives_way;   /* and still did at this one */
  bool is_outdated; /* it is not to be copied any more */
};

static const char *state_text(const struct copy *copy, int column) {
  return result_text(copy->state, 0, column);
}

/* Asks the source on the connection that the backfill is driven by. */
static bool ask(const struct copy *copy, const struct query *query, struct values values, PGresult **reply,
                struct error *error) {
  struct pgconn *connection = source_connection(copy->backfill->source);
  const struct query unprepared = QUERY_ONCE(*query);
  pgconn_set_deadline(connection, DEADLINE);
  bool ok = source_run(copy->backfill->source, &unprepared, values, reply, error);
  pgconn_set_deadline(connection, 0);
  return ok;
}

static struct number id_of(const struct copy *copy) {
  return number(copy->backfill->id);
}

static void wait_for(struct copy *copy, int64_t pause, const char *note) {
  copy->progress->outcome = BACKFILL_WAITS;
  copy->progress->pause = pause;
  text_print(copy->progress->note, sizeof copy->progress->note, "%s", note != NULL ? note : "");
}

/* It is done piece by piece, or not at all. */
static bool abandon(struct copy *copy, const char *why, struct error *error) {
  text_print(copy->progress->note, sizeof copy->progress->note, "not as a whole: %s", why);
  return ask(copy, &QUERY_copy_abandon, VALUES(id_of(copy).text, why), NULL, error);
}

/* ---- the target ------------------------------------------------------------------------------------------------ */

/* Reads what the source says of the target and the route. */
static bool read_route(struct copy *copy, struct error *error) {
  const char *target = state_text(copy, COPY_TARGET);
  const char *capture = state_text(copy, COPY_CAPTURE);
  PGresult *settings = NULL;
  PGresult *routes = NULL;
  settings_free(copy->settings);
  copy->settings = NULL;
  bool ok = ask(copy, &QUERY_target_settings, VALUES(NULL, target), &settings, error) &&
            settings_read(&copy->settings, settings, error);
  PQclear(settings);
  ok = ok && (copy->settings != NULL || error_set(error, FAILURE_FATAL, "target %s was dropped", copy->name)) &&
       ask(copy, &QUERY_target_routes, VALUES(target, capture), &routes, error) &&
       routes_read(&copy->routes, routes, error);
  if (!ok)
    return false;
  copy->route = routes_find(&copy->routes, result_int(copy->state, 0, COPY_CAPTURE));
  return copy->route != NULL || error_set(error, FAILURE_FATAL, "the table is no longer routed to the target");
}

static bool connect_target(struct copy *copy, struct error *error) {
  struct buffer url;
  buffer_init(&url, URL_LIMIT);
  bool ok = url_fill_in(copy->settings->url, "URL", &url, error) &&
            session_open(&copy->target, copy->settings, url.data, error) &&
            (copy->route->identity == NULL || session_set_origin(copy->target, copy->route->identity, false, error)) &&
            ddl_run(copy->target, false, &QUERY_ONCE(QUERY_copy_create), NO_VALUES, error);
  buffer_release(&url);
  if (!ok)
    url_hide(copy->settings->url, error);
  return ok;
}

static bool inspect_table(struct copy *copy, struct error *error) {
  PQclear(copy->table);
  copy->table = NULL;
  return pgconn_run(copy->target, &QUERY_copy_inspect,
                    VALUES(copy->route->into_table, state_text(copy, COPY_COLUMNS), copy->route->key_columns),
                    &copy->table, error);
}

/* Connects and makes the table if that is wanted; *problem is why the rows cannot be copied into it, NULL: they can. */
static bool prepare_target(struct copy *copy, const char **problem, struct error *error) {
  if (!connect_target(copy, error) || !inspect_table(copy, error))
    return false;
  if (result_text(copy->table, 0, LOOK_PROBLEM) != NULL && copy->route->create_table && copy->route->columns != NULL &&
      (!likeness_create(copy->target, false, copy->route, error) || !inspect_table(copy, error)))
    return false;
  *problem = copy->route->key_is_lost ? "a key column was dropped" : result_text(copy->table, 0, LOOK_PROBLEM);
  if (*problem != NULL || coarse_check(copy->target, copy->route, error))
    return true;
  *problem = "a column in the target has a coarser type"; /* who delivers says which */
  return error->kind == FAILURE_TABLE;
}

static bool check_if_empty(struct copy *copy, bool *empty, struct error *error) {
  const struct query probe = {.name = NULL, .text = result_text(copy->table, 0, LOOK_PROBE)};
  PGresult *reply = NULL;
  if (!pgconn_run(copy->target, &probe, NO_VALUES, &reply, error))
    return false;
  *empty = PQntuples(reply) == 0;
  PQclear(reply);
  return true;
}

/*
 * Keeps out who was left behind: a process that lost the source may still be pushing what has been held, and its rows
 * must not come after those that are copied. A push that has begun is waited for, because it has passed its fences.
 */
static bool raise_fences(struct copy *copy, struct error *error) {
  PGresult *reply = NULL;
  bool ok = ask(copy, &QUERY_copy_token, VALUES(state_text(copy, COPY_TARGET)), &reply, error);
  if (ok) {
    pgconn_set_deadline(copy->target, copy->settings->push_timeout);
    ok = fence_raise(copy->target, copy->settings->source_id, PQgetvalue(reply, 0, 1), PQgetvalue(reply, 0, 0), error);
  }
  PQclear(reply);
  return ok;
}

/* Locks the table in a transaction that has no bound, because it lasts as long as the copy. */
static bool lock_target(struct copy *copy, struct error *error) {
  const struct query lock = {.name = NULL, .text = result_text(copy->table, 0, LOOK_LOCK)};
  pgconn_set_deadline(copy->target, copy->settings->push_timeout);
  return pgconn_script(copy->target, "begin; set local statement_timeout to 0", error) &&
         pgconn_run(copy->target, &lock, NO_VALUES, NULL, error);
}

/* ---- the rows -------------------------------------------------------------------------------------------------- */

/* Begins the transaction that reads; from its snapshot on, the table stays as it is: see TRUNCATE and ALTER TABLE. */
static bool begin_reading(struct copy *copy, const char *lock_statement, struct error *error) {
  static const struct query BEGIN = {.name = NULL, .text = "begin isolation level repeatable read read only"};
  const struct query lock = {.name = NULL, .text = lock_statement};
  PGresult *reply = NULL;
  if (!source_open(&copy->reading, copy->backfill->conninfo, error))
    return false;
  struct pgconn *connection = source_connection(copy->reading);
  pgconn_set_deadline(connection, DEADLINE);
  if (!pooler_set(connection, SESSION_COPY, error) || !pgconn_run(connection, &BEGIN, NO_VALUES, NULL, error) ||
      !pgconn_run(connection, &lock, NO_VALUES, NULL, error) ||
      !pgconn_run(connection, &QUERY_copy_snapshot, NO_VALUES, &reply, error))
    return false;
  pgconn_set_deadline(connection, 0);
  free(copy->snapshot);
  copy->snapshot = strdup(PQgetvalue(reply, 0, 0));
  PQclear(reply);
  return copy->snapshot != NULL || error_set(error, FAILURE_RETRY, "out of memory");
}

/* What the source has to say while rows go by. */
static bool tick(struct copy *copy, int64_t rows, struct error *error) {
  PGresult *reply = NULL;
  if (!ask(copy, &QUERY_copy_tick, VALUES(id_of(copy).text, copy->snapshot, number(rows).text), &reply, error))
    return false;
  copy->is_outdated = PQntuples(reply) == 0 || !result_bool(reply, 0, 0);
  bool wanted = !copy->is_outdated && result_bool(reply, 0, 1);
  copy->gives_way = wanted && copy->wanted;
  copy->wanted = wanted;
  PQclear(reply);
  return true;
}

static bool tell(void *context, int64_t rows, struct error *error) {
  struct copy *copy = context;
  copy->progress->read = copy->progress->queued = rows;
  if (copy->backfill->tell != NULL && !copy->backfill->tell(copy->backfill->context, copy->progress))
    return error_set(error, FAILURE_STOP, "interrupted");
  if (clock_now() - copy->ticked_at < TICK)
    return true;
  copy->ticked_at = clock_now();
  if (!tick(copy, rows, error))
    return false;
  if (copy->is_outdated)
    return error_set(error, FAILURE_RETRY, "the copy was cancelled");
  return !copy->gives_way || error_set(error, FAILURE_RETRY, "another session wants an exclusive lock");
}

/* The target's transaction is open, and the table empty: copies all rows, and commits there. */
static bool copy_rows(struct copy *copy, struct error *error) {
  static const struct query COMMIT = {.name = NULL, .text = "commit"};
  PGresult *statement = NULL;
  PGresult *begun = NULL;
  bool ok = false;
  if (!ask(copy, &QUERY_copy_statement, VALUES(id_of(copy).text, result_text(copy->table, 0, LOOK_NAMES)), &statement,
           error) ||
      !begin_reading(copy, PQgetvalue(statement, 0, 1), error) ||
      !ask(copy, &QUERY_copy_begin, VALUES(id_of(copy).text, copy->snapshot), &begun, error))
    goto done;
  copy->is_outdated = PQntuples(begun) == 0;
  if (copy->is_outdated) {
    error_set(error, FAILURE_RETRY, "the copy was cancelled");
    goto done;
  }
  copy->ticked_at = clock_now();
  struct copy_stream stream = {
      .from = source_connection(copy->reading),
      .from_statement = PQgetvalue(statement, 0, 0),
      .to = copy->target,
      .to_statement = result_text(copy->table, 0, LOOK_COPY),
      .rate = PQgetisnull(copy->state, 0, COPY_RATE) ? 0 : result_bigint(copy->state, 0, COPY_RATE),
      .timeout = DEADLINE,
      .tell = tell,
      .context = copy};
  if (!copy_stream_run(&stream, error))
    goto done;
  /* Others may write it, alter it or truncate it again. */
  source_close(copy->reading);
  copy->reading = NULL;
  pgconn_set_deadline(copy->target, copy->settings->push_timeout);
  if (!pgconn_run(copy->target, &QUERY_copy_note,
                  VALUES(copy->settings->source_id, state_text(copy, COPY_TARGET), state_text(copy, COPY_CAPTURE),
                         copy->snapshot, number(stream.rows).text),
                  NULL, error) ||
      !tick(copy, stream.rows, error))
    goto done;
  if (copy->is_outdated) {
    error_set(error, FAILURE_RETRY, "the copy was cancelled");
    goto done;
  }
  copy->progress->read = copy->progress->queued = stream.rows;
  ok = pgconn_run(copy->target, &COMMIT, NO_VALUES, NULL, error) &&
       ask(copy, &QUERY_copy_accept, VALUES(id_of(copy).text, copy->snapshot, number(stream.rows).text), NULL, error);

done:
  PQclear(statement);
  PQclear(begun);
  return ok;
}

/* ---- steps ----------------------------------------------------------------------------------------------------- */

/* What is queued waits, too; *held when all of it does. */
static bool hold(struct copy *copy, bool *held, struct error *error) {
  struct number below = number(0);
  bool more = true;
  *held = true;
  for (bool first = true; more; first = false) {
    PGresult *reply = NULL;
    if (!ask(copy, &QUERY_copy_hold, VALUES(id_of(copy).text, first ? NULL : below.text, number(ROWS_HELD).text),
             &reply, error))
      return false;
    more = !PQgetisnull(reply, 0, 0);
    if (more)
      below = number(result_bigint(reply, 0, 0));
    *held = *held && !result_bool(reply, 0, 1);
    PQclear(reply);
  }
  return true;
}

/* Nothing has been done yet: finds out whether the table can be copied, and takes its changes aside. */
static bool step_waiting(struct copy *copy, struct error *error) {
  const char *problem = result_text(copy->state, 0, COPY_FORBIDDEN);
  bool empty = false;
  if (problem != NULL)
    return abandon(copy, problem, error);
  if (!read_route(copy, error) || !prepare_target(copy, &problem, error) ||
      (problem == NULL && !check_if_empty(copy, &empty, error)))
    return false;
  char not_empty[512];
  text_print(not_empty, sizeof not_empty, "table %s in the target is not empty", copy->route->into_table);
  if (problem != NULL || (!empty && !copy->route->keyless))
    return abandon(copy, problem != NULL ? problem : not_empty, error);

  PGresult *reply = NULL;
  if (!ask(copy, &QUERY_copy_switch, VALUES(id_of(copy).text), &reply, error))
    return false;
  bool switched = result_bool(reply, 0, 0);
  if (!switched)
    wait_for(copy, WAIT_PAUSE, result_text(reply, 0, 1));
  PQclear(reply);
  bool held;
  return !switched || hold(copy, &held, error);
}

/* Whether the table has been copied to the target with the snapshot that the source has noted: then it is told. */
static bool resume(struct copy *copy, bool *copied, struct error *error) {
  const char *noted = state_text(copy, COPY_SNAPSHOT);
  PGresult *mark = NULL;
  if (!pgconn_run(copy->target, &QUERY_copy_mark,
                  VALUES(copy->settings->source_id, state_text(copy, COPY_TARGET), state_text(copy, COPY_CAPTURE)),
                  &mark, error))
    return false;
  *copied = PQntuples(mark) > 0 && noted != NULL && strcmp(PQgetvalue(mark, 0, 0), noted) == 0;
  bool ok =
      !*copied || ask(copy, &QUERY_copy_accept, VALUES(id_of(copy).text, noted, PQgetvalue(mark, 0, 1)), NULL, error);
  PQclear(mark);
  return ok;
}

/*
 * Rows without a key are only copied into an empty table, and changes that the target's rows include cannot be told
 * from others; it may have rows of a copy of which a standby that took over does not know. So while a person has to
 * empty it, the changes stay in the waiting room: else a busy table would never be empty, or they would come twice.
 */
static bool wait_until_emptied(struct copy *copy, struct error *error) {
  char note[512];
  text_print(
      note, sizeof note,
      "table %s in the target is not empty, and the table has no key: its changes wait until you empty it there; "
      "then all is copied",
      copy->route->into_table);
  wait_for(copy, AGAIN_PAUSE, note);
  return ask(copy, &QUERY_copy_wait, VALUES(id_of(copy).text, note), NULL, error);
}

/* Whether there is nothing to do but to wait for that, as is seen without keeping anybody else from the target. */
static bool look_before(struct copy *copy, bool *settled, struct error *error) {
  bool empty = true;
  *settled = false;
  if (copy->route->keyless && !check_if_empty(copy, &empty, error))
    return false;
  if (empty)
    return true;
  if (!resume(copy, settled, error))
    return false;
  if (*settled)
    return true;
  *settled = true;
  return wait_until_emptied(copy, error);
}

static bool step_copying(struct copy *copy, struct error *error) {
  const char *problem = NULL;
  const char *give_up = state_text(copy, COPY_GIVE_UP);
  bool held = false;
  bool copied = false;
  bool empty = false;
  if (give_up != NULL && state_text(copy, COPY_SNAPSHOT) == NULL)
    return abandon(copy, give_up, error);
  if (!read_route(copy, error) || !hold(copy, &held, error))
    return false;
  if (!held) {
    wait_for(copy, FLIGHT_PAUSE, "waits for what is in flight to the target");
    return true;
  }
  if (!prepare_target(copy, &problem, error))
    return false;
  if (problem == NULL && give_up == NULL && !look_before(copy, &copied, error))
    return false;
  if (problem == NULL && !copied &&
      !(raise_fences(copy, error) && lock_target(copy, error) && resume(copy, &copied, error)))
    return false;
  if (copied)
    return true;
  if (problem == NULL && give_up == NULL && !check_if_empty(copy, &empty, error))
    return false;
  if (give_up == NULL && problem == NULL && !empty && copy->route->keyless)
    return wait_until_emptied(copy, error);
  char not_empty[512];
  text_print(not_empty, sizeof not_empty, "table %s in the target is not empty", copy->route->into_table);
  if (give_up != NULL || problem != NULL || !empty)
    return abandon(copy, give_up != NULL ? give_up : problem != NULL ? problem : not_empty, error);
  if (copy_rows(copy, error))
    return true;
  if (!copy->gives_way)
    return false;
  if (++copy->backfill->gave_way >= MOST_GIVING_WAY && !copy->route->keyless)
    return abandon(copy, "others want the table for themselves", error);
  wait_for(copy, GIVE_WAY_PAUSE, "paused for another session, which wants an exclusive lock on the table");
  return true;
}

static bool step_joining(struct copy *copy, struct error *error) {
  struct number above = number(0);
  int64_t passed = 0;
  bool more = true;
  while (more) {
    PGresult *reply = NULL;
    if (!ask(copy, &QUERY_copy_join, VALUES(id_of(copy).text, above.text, number(ROWS_JOINED).text), &reply, error))
      return false;
    more = !PQgetisnull(reply, 0, 0);
    if (more)
      above = number(result_bigint(reply, 0, 0));
    passed += result_bigint(reply, 0, 1);
    PQclear(reply);
  }
  /* Meanwhile others have come. */
  if (passed > ROWS_LAST)
    return true;
  PGresult *reply = NULL;
  if (!ask(copy, &QUERY_copy_finish, VALUES(id_of(copy).text, number(ROWS_LAST).text), &reply, error))
    return false;
  if (!result_bool(reply, 0, 0))
    wait_for(copy, WAIT_PAUSE, result_text(reply, 0, 1));
  PQclear(reply);
  return true;
}

/* Whether what failed is to be tried again as it is. */
static bool is_momentary(const struct error *error) {
  return error->kind == FAILURE_RETRY || error->kind == FAILURE_FENCED;
}

static bool take_step(struct copy *copy, struct error *error) {
  const char *state = state_text(copy, COPY_STATE);
  if (strcmp(state, "joining") == 0)
    return step_joining(copy, error);
  if (strcmp(state, "done") == 0) {
    copy->progress->outcome = BACKFILL_DONE;
    return true;
  }
  if (strcmp(state_text(copy, COPY_TARGET_STATE), "running") != 0) {
    wait_for(copy, AGAIN_PAUSE, "the target is paused");
    return true;
  }
  return strcmp(state, "waiting") == 0 ? step_waiting(copy, error) : step_copying(copy, error);
}

/* A failure of the target is none of the step, except that it is told to stop. */
static bool mend(struct copy *copy, struct error *error) {
  if (!pgconn_alive(source_connection(copy->backfill->source)))
    return false;
  pgconn_fit_error(source_connection(copy->backfill->source), error);
  if (copy->is_outdated)
    return true;
  if (error->kind == FAILURE_STOP) {
    wait_for(copy, 0, "");
    return true;
  }
  if (is_momentary(error) || strcmp(state_text(copy, COPY_STATE), "joining") == 0) {
    wait_for(copy, AGAIN_PAUSE, error->message);
    return true;
  }
  char why[sizeof error->message];
  text_print(why, sizeof why, "%s", error->message);
  return abandon(copy, why, error);
}

static bool run(struct backfill *backfill, struct backfill_progress *progress, bool only_first, bool *is_copy,
                struct error *error) {
  struct copy copy = {.backfill = backfill, .progress = progress};
  if (!ask(&copy, &QUERY_copy_state, VALUES(id_of(&copy).text), &copy.state, error))
    return false;
  routes_init(&copy.routes);
  *is_copy = PQntuples(copy.state) > 0 && result_bool(copy.state, 0, COPY_IS_COPY);
  bool ok = true;
  if (*is_copy && (!only_first || strcmp(state_text(&copy, COPY_STATE), "waiting") == 0)) {
    copy.name = state_text(&copy, COPY_TARGET_NAME);
    *progress = (struct backfill_progress){.outcome = BACKFILL_PROGRESS,
                                           .copied = true,
                                           .queued = result_bigint(copy.state, 0, COPY_ROWS),
                                           .read = result_bigint(copy.state, 0, COPY_ROWS),
                                           .estimated = result_bigint(copy.state, 0, COPY_ESTIMATED)};
    ok = take_step(&copy, error) || mend(&copy, error);
  }
  pgconn_close(copy.target);
  source_close(copy.reading);
  routes_release(&copy.routes);
  settings_free(copy.settings);
  free(copy.snapshot);
  PQclear(copy.table);
  PQclear(copy.state);
  return ok;
}

bool copy_step(struct backfill *backfill, struct backfill_progress *progress, bool *is_copy, struct error *error) {
  return run(backfill, progress, false, is_copy, error);
}

bool copy_prepare(struct backfill *backfill, bool *waits, struct error *error) {
  struct backfill_progress progress = {.outcome = BACKFILL_PROGRESS};
  bool is_copy;
  bool ok = run(backfill, &progress, true, &is_copy, error);
  *waits = progress.outcome == BACKFILL_WAITS;
  return ok;
}
