#include "verify/pair.h"

#include <string.h>

#include "common/buffer.h"
#include "common/url.h"
#include "postgres/session.h"

/* `postgresql:` and `postgres:` with nothing behind them */
static bool is_source_itself(const char *url) {
  return url[strcspn(url, ":") + 1] == '\0';
}

static bool check_kind(const struct settings *settings, struct error *error) {
  bool is_postgres = strncmp(settings->url, "postgresql:", strlen("postgresql:")) == 0 ||
                     strncmp(settings->url, "postgres:", strlen("postgres:")) == 0;
  if (is_postgres && !settings->append)
    return true;
  error_set(error, FAILURE_USAGE, "target \"%s\" cannot be compared", settings->name);
  if (is_postgres)
    return error_hint(error, "it keeps every change (mode=append); only mirrors can be compared");
  return error_hint(error, "only mirrors in PostgreSQL can be compared, but its URL begins with %.*s:",
                    (int)strcspn(settings->url, ":"), settings->url);
}

static bool open_target(struct pair *pair, const struct settings *settings, struct error *error) {
  struct buffer url;
  buffer_init(&url, URL_LIMIT);
  bool ok = url_fill_in(settings->url, "URL", &url, error) &&
            pooler_open(&pair->connections[SIDE_TARGET], url.data, SESSION_VERIFY, POOLER_OPEN_TIMEOUT, error);
  buffer_release(&url);
  if (!ok)
    url_hide(settings->url, error);
  return ok;
}

bool pair_open(struct pair *pair, const char *conninfo, const struct settings *settings, struct error *error) {
  *pair = (struct pair){.source = NULL};
  if (!check_kind(settings, error) || !source_open(&pair->source, conninfo, error))
    return false;
  pair->connections[SIDE_SOURCE] = source_connection(pair->source);
  if (!pooler_set(pair->connections[SIDE_SOURCE], SESSION_VERIFY, error))
    return false;
  if (!is_source_itself(settings->url))
    return open_target(pair, settings, error);
  if (!source_open(&pair->own, conninfo, error))
    return false;
  pair->connections[SIDE_TARGET] = source_connection(pair->own);
  return pooler_set(pair->connections[SIDE_TARGET], SESSION_VERIFY, error);
}

void pair_release(struct pair *pair) {
  for (int side = 0; side < SIDE_COUNT; side++)
    pgconn_cancel(pair->connections[side]);
  if (pair->own == NULL)
    pgconn_close(pair->connections[SIDE_TARGET]);
  source_close(pair->own);
  source_close(pair->source);
  *pair = (struct pair){.source = NULL};
}

static void count_received(struct pair *pair, const PGresult *reply) {
  int rows = PQntuples(reply);
  int columns = PQnfields(reply);
  pair->rows_received += rows;
  for (int row = 0; row < rows; row++)
    for (int column = 0; column < columns; column++)
      pair->bytes_received += PQgetlength(reply, row, column);
}

static bool ask(struct pair *pair, struct question *questions, size_t count, struct error *error) {
  bool begun[SIDE_COUNT] = {false, false};
  bool ok = true;
  for (size_t i = 0; i < count; i++) {
    struct pgconn *connection = pair->connections[questions[i].side];
    questions[i].reply = NULL;
    if (!begun[questions[i].side])
      pgconn_pipeline_begin(connection);
    begun[questions[i].side] = true;
    pgconn_pipeline_add(connection, &questions[i].query, questions[i].values);
  }
  /* Each server is at work by now. A pipeline that was begun must be run. */
  for (int side = 0; side < SIDE_COUNT; side++) {
    PGresult *replies[MOST_QUESTIONS] = {NULL};
    size_t next = 0;
    if (!begun[side])
      continue;
    bool answered = pgconn_pipeline_run(pair->connections[side], replies, MOST_QUESTIONS, ok ? error : NULL);
    if (ok && !answered && error->sqlstate[0] != '\0' && error->hint[0] == '\0')
      error_hint(error, "raised at the %s", side == SIDE_SOURCE ? "source" : "target");
    ok = ok && answered;
    for (size_t i = 0; i < count; i++)
      if ((int)questions[i].side == side)
        questions[i].reply = replies[next++];
  }
  for (size_t i = 0; i < count && ok; i++)
    count_received(pair, questions[i].reply);
  if (!ok)
    pair_forget(questions, count);
  return ok;
}

/* Whether the server said that the data is wrong, rather than that it cannot go on. */
static bool is_refused(const struct error *error) {
  return error->sqlstate[0] != '\0' && (error->kind == FAILURE_REFUSED || error->kind == FAILURE_FATAL);
}

bool pair_ask(struct pair *pair, struct question *questions, size_t count, struct error *error) {
  bool again = false;
  if (ask(pair, questions, count, error))
    return true;
  for (size_t i = 0; i < count && is_refused(error); i++) {
    if (questions[i].safe == NULL)
      continue;
    questions[i].query.text = questions[i].safe;
    again = true;
  }
  if (!again)
    return false;
  error_clear(error);
  return ask(pair, questions, count, error);
}

void pair_forget(struct question *questions, size_t count) {
  for (size_t i = 0; i < count; i++) {
    PQclear(questions[i].reply);
    questions[i].reply = NULL;
  }
}
