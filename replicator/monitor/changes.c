/*
 * Who runs, and what is whose:
 *
 * - The server's thread makes a listener of a request whose token is right (changes_keep), and puts it among the
 *   arrivals. It then sends pieces at the client's pace, and tells when one is taken (exchange.h).
 * - The reader is a thread with the one connection. It takes arrivals over: all other listeners, their cursors and the
 *   connection are its own. Only it answers exchanges.
 * - changes_leave() is called by any thread.
 *
 * `lock` is for arrivals, their number and the two flags. Nobody holds it while waiting for the source or a client; of
 * locks only an exchange's is taken by its holder, and nobody takes this one under that.
 *
 * The reader sleeps while nobody listens. Else it looks twice a second, and at once for those that have just come or
 * have more to read: a listener is due when it has taken what it was given. Those that are due are sorted; equal ones
 * (role, tables, cursor) are read for once, and share the piece. All is read in one transaction with one snapshot, so
 * the cursors of all that have read to the end are the same afterwards, and they are read for together from then on.
 * A listener has one piece at most, so a slow one costs no more than that; it keeps its place in the log, and is
 * read for alone until it has caught up. Those that have caught up come first.
 */
#include "monitor/changes.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/interrupt.h"
#include "common/log.h"
#include "monitor/console_answer.h"
#include "monitor/listener.h"
#include "postgres/number.h"
#include "postgres/result.h"
#include "queries.h"
#include "source/source.h"

/* Milliseconds. */
#define POLL_INTERVAL 500     /* at least, and as long as the last look took */
#define READ_TIMEOUT 30000    /* for one answer of the source; nobody is told anything meanwhile */
#define CONNECT_TIMEOUT 5000  /* the same */
#define RECONNECT_PAUSE 1000  /* between attempts */
#define IDLE_CONNECTION 30000 /* it is closed when nobody listens for so long */
#define PIECE_BYTES 131072    /* or a single change */
#define CANCELLED "57014"
#define LONGEST_IDS ((size_t)64 * 1024)
/*
 * Whatever role is taken on, nothing that somebody made in another schema is called by its name, and programs get the
 * same texts everywhere. A search of a large log that takes too long is given up by the server, and the connection
 * kept. The name is for pg_stat_activity.
 */
#define SESSION                                                                                                        \
  "set search_path to pg_catalog, pg_temp; set timezone to 'UTC'; set statement_timeout to '20s'; "                    \
  "set application_name to 'rowrelay changes'"

struct changes {
  const char *conninfo;
  const char *path; /* of the file of tokens; NULL: nobody may listen */
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  struct listener *arrivals;
  int count; /* of listeners, arrivals too */
  bool woken;
  atomic_bool leaving;
  /* The reader's: */
  struct listener *listeners;
  struct source *source; /* NULL: not connected */
  bool in_transaction;
  bool was_away;       /* the source; it was said */
  bool was_unreadable; /* the file of tokens; it was said */
  int64_t look_at;     /* clock_now() */
  int64_t connect_at;  /* not before */
};

/* ---- who comes ------------------------------------------------------------------------------------------------- */

static const struct tokens_form FORM = {.line = "NAME SHA-256 ROLE"};

static bool read_tokens(struct changes *changes, struct tokens *tokens, struct server_answer *answer) {
  struct error error;
  if (tokens_read(tokens, &FORM, changes->path, &error))
    return true;
  log_failure(LOG_LEVEL_WARNING, &error, "changes over HTTP");
  console_error(answer, MHD_HTTP_SERVICE_UNAVAILABLE, "the tokens of this server cannot be read now", NULL);
  return false;
}

/* Whether somebody may listen, and as whom. */
static bool recognize(struct changes *changes, const struct server_request *request, struct token *token,
                      struct server_answer *answer) {
  static const char BEARER[] = "Bearer ";
  const char *brought = server_header(request, "Authorization");
  struct tokens tokens;
  struct digest digest;
  if (changes->path == NULL) {
    console_error(answer, MHD_HTTP_NOT_FOUND, "changes are not handed out here",
                  "set " CHANGES_TOKENS
                  " in the environment of rowrelay run to a file with a line \"NAME SHA-256 ROLE\" "
                  "for each token");
    return false;
  }
  if (!read_tokens(changes, &tokens, answer))
    return false;
  const struct token *found =
      brought != NULL && strncmp(brought, BEARER, strlen(BEARER)) == 0 && tokens_hash(brought + strlen(BEARER), &digest)
          ? tokens_find(&tokens, &digest)
          : NULL;
  if (found != NULL) {
    *token = *found;
  } else {
    answer->header.name = "WWW-Authenticate";
    answer->header.value = "Bearer";
    console_error(answer, MHD_HTTP_UNAUTHORIZED, "a token of this server is needed",
                  "send a header \"Authorization: Bearer TOKEN\"");
  }
  tokens_release(&tokens);
  return found != NULL;
}

static void wake(void *context) {
  struct changes *changes = context;
  pthread_mutex_lock(&changes->lock);
  changes->woken = true;
  pthread_cond_signal(&changes->changed);
  pthread_mutex_unlock(&changes->lock);
}

bool changes_keep(struct changes *changes, const struct server_request *request, struct exchange *exchange,
                  struct server_answer *answer) {
  struct token token;
  struct listener *listener = NULL;
  if (recognize(changes, request, &token, answer))
    listener = listener_new(request, exchange, &token, answer);
  if (listener == NULL)
    return false;
  exchange_on_ready(exchange, wake, changes);
  pthread_mutex_lock(&changes->lock);
  bool room = changes->count < SERVER_MOST_KEPT;
  bool taken = room && !changes->leaving;
  if (taken) {
    listener->next = changes->arrivals;
    changes->arrivals = listener;
    changes->count++;
    pthread_cond_signal(&changes->changed);
  }
  pthread_mutex_unlock(&changes->lock);
  if (taken)
    return true;
  listener_free(listener);
  console_error(answer, MHD_HTTP_SERVICE_UNAVAILABLE, room ? "this process is ending" : "too many listen already",
                "try again later, or ask another process");
  return false;
}

/* ---- who goes -------------------------------------------------------------------------------------------------- */

/* Forgets the listener at *place; its exchange has been answered or ended. */
static void forget(struct changes *changes, struct listener **place) {
  struct listener *listener = *place;
  *place = listener->next;
  listener_free(listener);
  pthread_mutex_lock(&changes->lock);
  changes->count--;
  pthread_mutex_unlock(&changes->lock);
}

static void forget_one(struct changes *changes, const struct listener *listener) {
  struct listener **place = &changes->listeners;
  while (*place != listener)
    place = &(*place)->next;
  forget(changes, place);
}

/* Of a file that cannot be read, such as one that is being replaced, nothing is concluded. */
static bool may_still(const struct tokens *tokens, const struct listener *listener) {
  const struct token *token = tokens_find(tokens, &listener->token.digest);
  return token != NULL && strcmp(token->grant, listener->token.grant) == 0;
}

static void drop_those_who_left(struct changes *changes) {
  struct tokens tokens = {.count = 0};
  struct error error;
  bool known = tokens_read(&tokens, &FORM, changes->path, &error);
  if (!known && !changes->was_unreadable)
    log_failure(LOG_LEVEL_WARNING, &error, "changes over HTTP");
  changes->was_unreadable = !known;
  for (struct listener **place = &changes->listeners; *place != NULL;) {
    struct listener *listener = *place;
    if (exchange_has_left(listener->exchange)) {
      exchange_end(listener->exchange);
      forget(changes, place);
    } else if (known && !may_still(&tokens, listener) && listener_is_ready(listener)) {
      error_set(&error, FAILURE_USAGE, "this token has been withdrawn");
      listener_refuse(listener, MHD_HTTP_UNAUTHORIZED, &error, NULL);
      forget(changes, place);
    } else {
      place = &listener->next;
    }
  }
  tokens_release(&tokens);
}

static void end_all(struct changes *changes) {
  struct error error;
  error_set(&error, FAILURE_STOP, "this process is ending");
  error_hint(&error, "try again later, or ask another process");
  while (changes->listeners != NULL) {
    struct listener *listener = changes->listeners;
    if (listener->has_begun)
      exchange_end(listener->exchange);
    else
      listener_refuse(listener, MHD_HTTP_SERVICE_UNAVAILABLE, &error, NULL);
    forget(changes, &changes->listeners);
  }
}

/* ---- the source ------------------------------------------------------------------------------------------------ */

static void lose_source(struct changes *changes) {
  if (changes->source != NULL)
    pgconn_cancel(source_connection(changes->source));
  source_close(changes->source);
  changes->source = NULL;
  changes->in_transaction = false;
}

static bool reach_source(struct changes *changes, struct error *error) {
  if (changes->source != NULL)
    return true;
  if (!source_open_within(&changes->source, changes->conninfo, CONNECT_TIMEOUT, error))
    return false;
  pgconn_set_deadline(source_connection(changes->source), READ_TIMEOUT);
  if (source_check_schema(changes->source, error) && source_script(changes->source, SESSION, error))
    return true;
  lose_source(changes);
  return false;
}

static bool run(struct changes *changes, const struct query *query, struct values values, PGresult **reply,
                struct error *error) {
  pgconn_set_deadline(source_connection(changes->source), READ_TIMEOUT);
  return source_run(changes->source, query, values, reply, error);
}

static void end_transaction(struct changes *changes) {
  if (changes->in_transaction)
    pgconn_rollback(source_connection(changes->source));
  changes->in_transaction = false;
}

static bool begin_transaction(struct changes *changes, struct error *error) {
  if (!changes->in_transaction)
    changes->in_transaction = source_script(changes->source, "begin isolation level repeatable read, read only", error);
  return changes->in_transaction;
}

/* ---- reading for some that are equal --------------------------------------------------------------------------- */

struct group {
  struct listener **members;
  size_t count;
  unsigned status;  /* of an answer that says why they cannot be read for */
  char *go_on_from; /* where they may go on nevertheless; owned, NULL: nowhere */
};

static bool is_passing(const struct changes *changes, const struct error *error) {
  return error->kind == FAILURE_RETRY || error->kind == FAILURE_LATE || error->kind == FAILURE_STOP ||
         !pgconn_alive(source_connection(changes->source));
}

static bool take_role(struct changes *changes, struct group *group, struct error *error) {
  const char *role = group->members[0]->token.grant;
  PGresult *reply = NULL;
  if (run(changes, &QUERY_changes_role, VALUES(role), NULL, error))
    return true;
  if (is_passing(changes, error))
    return false;
  group->status = MHD_HTTP_FORBIDDEN;
  struct error ignored;
  end_transaction(changes);
  if (run(changes, &QUERY_changes_grant, VALUES(role), &reply, &ignored))
    error_hint(error, "run at the source: %s", PQgetvalue(reply, 0, 0));
  PQclear(reply);
  log_failure(LOG_LEVEL_WARNING, error, "changes over HTTP: token %s", group->members[0]->token.name);
  return false;
}

/* An error of the first table that cannot be listened to. */
static bool check_tables(struct group *group, const PGresult *tables, struct error *error) {
  const char *role = group->members[0]->token.grant;
  for (int row = 0; row < PQntuples(tables); row++) {
    const char *name = PQgetvalue(tables, row, LISTENED_NAME);
    group->status = MHD_HTTP_NOT_FOUND;
    if (PQgetisnull(tables, row, LISTENED_RELATION)) {
      error_set(error, FAILURE_USAGE, "there is no table %s", name);
      return error_hint(error, "name it with its schema, such as shop.orders");
    }
    if (!result_bool(tables, row, LISTENED_MAY_READ)) {
      group->status = MHD_HTTP_FORBIDDEN;
      error_set(error, FAILURE_USAGE, "role %s may not read the log of table %s", role, name);
      return error_hint(error, "grant it select on the whole table; no policy may hide rows from it");
    }
    if (!result_bool(tables, row, LISTENED_IS_CAPTURED)) {
      error_set(error, FAILURE_USAGE, "table %s is not captured", name);
      return error_hint(error, "capture it first: rowrelay capture %s", name);
    }
  }
  group->status = 0;
  return true;
}

/* Finds out the ids of the tables that they named. */
static bool find_tables(struct changes *changes, struct group *group, struct error *error) {
  PGresult *tables = NULL;
  struct buffer ids;
  if (group->members[0]->tables == NULL || group->members[0]->relations != NULL)
    return true;
  if (!run(changes, &QUERY_changes_tables, VALUES(group->members[0]->tables), &tables, error))
    return false;
  buffer_init(&ids, LONGEST_IDS);
  for (int row = 0; row < PQntuples(tables); row++)
    buffer_add_format(&ids, "%s%s", row == 0 ? "{" : ",", PQgetvalue(tables, row, LISTENED_RELATION));
  buffer_add_string(&ids, "}");
  bool ok = check_tables(group, tables, error) && buffer_ok(&ids, "the list of tables", error);
  for (size_t i = 0; ok && i < group->count; i++) {
    group->members[i]->relations = strdup(ids.data);
    ok = group->members[i]->relations != NULL || error_set(error, FAILURE_RETRY, "out of memory");
  }
  buffer_release(&ids);
  PQclear(tables);
  return ok;
}

/* All of one get the same; those that were answered as a whole are forgotten. */
static bool hand_out(struct changes *changes, struct group *group, const PGresult *found, struct error *error) {
  struct listener_news news = {.changes = found};
  struct piece *piece = listener_format(group->members[0], &news, error);
  if (piece == NULL && error->kind != FAILURE_RETRY) {
    group->go_on_from = strdup(PQgetvalue(found, 0, HEARD_NEXT_CURSOR));
    error_set(error, FAILURE_REFUSED, "a change of %d bytes is too large for HTTP", PQgetlength(found, 0, HEARD_LINE));
    error_hint(error, "go on behind it, at next_cursor; read it with select * from rowrelay.changes_since('%s', 1)",
               group->members[0]->cursor);
  }
  if (piece == NULL)
    return false;
  for (size_t i = 0; i < group->count; i++)
    if (listener_take(group->members[i], &news, piece))
      forget_one(changes, group->members[i]);
  piece_release(piece);
  return true;
}

static bool read_for(struct changes *changes, struct group *group, struct error *error) {
  const struct listener *first = group->members[0];
  PGresult *found = NULL;
  if (!begin_transaction(changes, error) || !take_role(changes, group, error) || !find_tables(changes, group, error))
    return false;
  bool ok =
      run(changes, &QUERY_changes_read,
          VALUES(first->cursor, number(first->most).text, first->relations, number(PIECE_BYTES).text), &found, error) &&
      hand_out(changes, group, found, error);
  PQclear(found);
  return ok;
}

static unsigned status_of(const struct error *error) {
  static const struct {
    const char *sqlstate;
    unsigned status;
  } STATUSES[] = {
      {"22023", MHD_HTTP_BAD_REQUEST},                                  /* no cursor */
      {"42501", MHD_HTTP_FORBIDDEN},   {"42602", MHD_HTTP_BAD_REQUEST}, /* no name of a table */
      {"42P01", MHD_HTTP_NOT_FOUND},                                    /* a table that was dropped */
      {"55000", MHD_HTTP_GONE},                                         /* the log was restored */
  };
  for (size_t i = 0; i < sizeof STATUSES / sizeof *STATUSES; i++)
    if (strcmp(error->sqlstate, STATUSES[i].sqlstate) == 0)
      return STATUSES[i].status;
  return MHD_HTTP_INTERNAL_SERVER_ERROR;
}

/* Why is for the log: it may name hosts, paths and users, which are nothing for those that have but a token. */
static void tell_to_wait(struct changes *changes, const struct group *group, const struct error *error) {
  struct error told;
  if (!changes->was_away && error->kind != FAILURE_STOP)
    log_failure(LOG_LEVEL_WARNING, error, "changes over HTTP");
  changes->was_away = true;
  error_set(&told, FAILURE_RETRY, "the source cannot be read now");
  error_hint(&told, "try again later; the log of rowrelay run says why");
  for (size_t i = 0; i < group->count; i++)
    if (listener_is_told_to_wait(group->members[i], &told))
      forget_one(changes, group->members[i]);
}

static void refuse(struct changes *changes, const struct group *group, unsigned status, const struct error *error) {
  for (size_t i = 0; i < group->count; i++) {
    listener_refuse(group->members[i], status, error, group->go_on_from);
    forget_one(changes, group->members[i]);
  }
}

/*
 * The statement was cancelled, which took others' time. Those that had read to the end try again, as what they wait for
 * is new; those that are behind try once more for a single change, which may be large. For ever would be the same.
 */
static void give_up_search(struct changes *changes, const struct group *group, struct error *error) {
  if (!listener_is_behind(group->members[0])) {
    tell_to_wait(changes, group, error);
    return;
  }
  if (group->members[0]->most > 1) {
    for (size_t i = 0; i < group->count; i++)
      group->members[i]->most = 1;
    return;
  }
  error_set(error, FAILURE_LATE, "the search for changes of these tables behind this cursor takes too long");
  error_hint(error, "begin with 'now', and read what is older with rowrelay.changes_since() or from rowrelay.history");
  refuse(changes, group, MHD_HTTP_GATEWAY_TIMEOUT, error);
}

/* False: the source cannot be asked for now. */
static bool serve(struct changes *changes, struct group *group) {
  struct error error;
  if (read_for(changes, group, &error)) {
    changes->was_away = false;
    return true;
  }
  if (strcmp(error.sqlstate, CANCELLED) == 0 && pgconn_alive(source_connection(changes->source))) {
    end_transaction(changes);
    give_up_search(changes, group, &error);
    return true;
  }
  if (is_passing(changes, &error)) {
    lose_source(changes);
    changes->connect_at = clock_now() + RECONNECT_PAUSE;
    tell_to_wait(changes, group, &error);
    return false;
  }
  end_transaction(changes);
  refuse(changes, group, group->status != 0 ? group->status : status_of(&error), &error);
  free(group->go_on_from);
  return true;
}

/* ---- one look at the source ------------------------------------------------------------------------------------ */

static int compare(const void *one, const void *other) {
  return listener_compare(*(struct listener *const *)one, *(struct listener *const *)other);
}

/* Those that are due, for the caller to free; NULL: none is. `all`: else only those that have just come or have more.
 */
static struct listener **list_due(const struct changes *changes, bool all, size_t *count) {
  struct listener **due = NULL;
  size_t most = 0;
  *count = 0;
  for (struct listener *listener = changes->listeners; listener != NULL; listener = listener->next)
    most++;
  if (most > 0)
    due = malloc(most * sizeof(struct listener *));
  if (due == NULL)
    return NULL;
  for (struct listener *listener = changes->listeners; listener != NULL; listener = listener->next)
    if ((all || listener_is_behind(listener)) && listener_is_ready(listener))
      due[(*count)++] = listener;
  qsort(due, *count, sizeof *due, compare);
  return due;
}

static void serve_due(struct changes *changes, struct listener **due, size_t count) {
  struct error error;
  if (!reach_source(changes, &error)) {
    changes->connect_at = clock_now() + RECONNECT_PAUSE;
    tell_to_wait(changes, &(struct group){.members = due, .count = count}, &error);
    return;
  }
  for (size_t first = 0; first < count && !changes->leaving;) {
    struct group group = {.members = &due[first], .count = 1};
    while (first + group.count < count && listener_compare(due[first], due[first + group.count]) == 0)
      group.count++;
    first += group.count;
    if (!serve(changes, &group))
      return;
  }
  end_transaction(changes);
}

static void look(struct changes *changes) {
  int64_t began = clock_now();
  bool all = began >= changes->look_at;
  size_t count;
  if (all)
    drop_those_who_left(changes);
  struct listener **due = began >= changes->connect_at ? list_due(changes, all, &count) : NULL;
  if (due != NULL && count > 0)
    serve_due(changes, due, count);
  free(due);
  for (struct listener *listener = changes->listeners; all && listener != NULL; listener = listener->next)
    listener_keep_alive(listener);
  int64_t now = clock_now();
  if (all)
    changes->look_at = now + (now - began > POLL_INTERVAL ? now - began : POLL_INTERVAL);
}

/* ---- the reader ------------------------------------------------------------------------------------------------ */

/* Waits until there is something to do, under the lock. */
static void wait_for_work(struct changes *changes) {
  int64_t until = changes->listeners != NULL ? changes->look_at : clock_now() + IDLE_CONNECTION;
  while (!changes->leaving && changes->arrivals == NULL && !changes->woken) {
    if (changes->listeners == NULL && changes->source == NULL)
      pthread_cond_wait(&changes->changed, &changes->lock);
    else if (clock_now() < until)
      clock_wait(&changes->changed, &changes->lock, until);
    else
      break;
  }
  changes->woken = false;
}

/* Those that have come are the reader's from here on. */
static void take_arrivals(struct changes *changes) {
  while (changes->arrivals != NULL) {
    struct listener *listener = changes->arrivals;
    changes->arrivals = listener->next;
    listener->next = changes->listeners;
    changes->listeners = listener;
  }
}

static bool told_to_leave(void *context) {
  struct changes *changes = context;
  return atomic_load(&changes->leaving);
}

static void *read_for_all(void *argument) {
  struct changes *changes = argument;
  interrupt_set_for_thread(told_to_leave, changes);
  while (!changes->leaving) {
    pthread_mutex_lock(&changes->lock);
    wait_for_work(changes);
    take_arrivals(changes);
    pthread_mutex_unlock(&changes->lock);
    if (changes->listeners == NULL)
      lose_source(changes);
    else if (!changes->leaving)
      look(changes);
  }
  pthread_mutex_lock(&changes->lock);
  take_arrivals(changes);
  pthread_mutex_unlock(&changes->lock);
  end_all(changes);
  lose_source(changes);
  return NULL;
}

bool changes_start(struct changes **changes, const char *conninfo, struct error *error) {
  struct changes *made = calloc(1, sizeof *made);
  struct tokens tokens = {.count = 0};
  if (made == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  const char *path = getenv(CHANGES_TOKENS);
  made->conninfo = conninfo;
  made->path = path != NULL && path[0] != '\0' ? path : NULL;
  pthread_mutex_init(&made->lock, NULL);
  clock_init_condition(&made->changed);
  bool ok = made->path == NULL || tokens_read(&tokens, &FORM, made->path, error);
  tokens_release(&tokens);
  if (ok && made->path != NULL && pthread_create(&made->thread, NULL, read_for_all, made) != 0)
    ok = error_set(error, FAILURE_FATAL, "cannot start a thread");
  if (!ok) {
    changes_free(made);
    return false;
  }
  *changes = made;
  return true;
}

void changes_leave(struct changes *changes) {
  if (changes == NULL)
    return;
  pthread_mutex_lock(&changes->lock);
  atomic_store(&changes->leaving, true);
  pthread_cond_signal(&changes->changed);
  pthread_mutex_unlock(&changes->lock);
}

void changes_stop(struct changes *changes) {
  changes_leave(changes);
  if (changes != NULL && changes->path != NULL)
    pthread_join(changes->thread, NULL);
}

void changes_free(struct changes *changes) {
  if (changes == NULL)
    return;
  pthread_cond_destroy(&changes->changed);
  pthread_mutex_destroy(&changes->lock);
  free(changes);
}
