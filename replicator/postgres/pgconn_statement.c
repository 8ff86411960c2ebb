/* Asks something of a connection: statements, several of them at a time, and COPY. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/interrupt.h"
#include "common/text.h"
#include "postgres/pgconn_wait.h"
#include "postgres/sqlstate.h"

/* ---- replies --------------------------------------------------------------------------------------------------- */

/* Sends what is buffered, and waits until PQgetResult would not block. */
static bool wait_reply(struct pgconn *connection, struct error *error) {
  for (;;) {
    int unsent = PQflush(connection->pg);
    if (unsent < 0)
      return pgconn_break(connection, FAILURE_RETRY, error, PQerrorMessage(connection->pg));
    if (unsent == 0 && !PQisBusy(connection->pg))
      return true;
    if (!pgconn_wait_socket(connection, (short)(POLLIN | (unsent ? POLLOUT : 0)), connection->deadline, error))
      return false;
    if (!PQconsumeInput(connection->pg))
      return pgconn_break(connection, FAILURE_RETRY, error, PQerrorMessage(connection->pg));
  }
}

static void copy_field(char *text, size_t size, const PGresult *result, int field) {
  const char *value = PQresultErrorField(result, field);
  text_print(text, size, "%s", value != NULL ? value : "");
}

static void note_violation(struct pgconn *connection, const PGresult *result) {
  struct pgconn_violation *violation = &connection->violation;
  violation->by_value = PQresultErrorField(result, PG_DIAG_STATEMENT_POSITION) == NULL &&
                        PQresultErrorField(result, PG_DIAG_CONTEXT) == NULL;
  if (PQresultErrorField(result, PG_DIAG_TABLE_NAME) == NULL)
    return;
  copy_field(violation->schema, sizeof violation->schema, result, PG_DIAG_SCHEMA_NAME);
  copy_field(violation->table, sizeof violation->table, result, PG_DIAG_TABLE_NAME);
  copy_field(violation->column, sizeof violation->column, result, PG_DIAG_COLUMN_NAME);
  copy_field(violation->constraint, sizeof violation->constraint, result, PG_DIAG_CONSTRAINT_NAME);
}

const struct pgconn_violation *pgconn_last_violation(const struct pgconn *connection) {
  return &connection->violation;
}

static bool set_result_error(struct pgconn *connection, const PGresult *result, struct error *error) {
  const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  if (sqlstate == NULL) {
    /* It is libpq's own word, as where it has no memory for the server's: what the server has done is not known. */
    connection->broken = true;
    return error_set(error, FAILURE_RETRY, "%s: %s", connection->description, PQerrorMessage(connection->pg));
  }
  const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  error_set(error, sqlstate_failure(sqlstate), "%s", message != NULL ? message : "unknown error");
  const char *detail = PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL);
  if (detail != NULL)
    error_detail(error, "%s", detail);
  const char *hint = PQresultErrorField(result, PG_DIAG_MESSAGE_HINT);
  if (hint != NULL)
    error_hint(error, "%s", hint);
  if (error != NULL)
    snprintf(error->sqlstate, sizeof error->sqlstate, "%s", sqlstate);
  note_violation(connection, result);
  return false;
}

static bool result_succeeded(const PGresult *result) {
  switch (PQresultStatus(result)) {
  case PGRES_COMMAND_OK:
  case PGRES_TUPLES_OK:
  case PGRES_EMPTY_QUERY:
    return true;
  default:
    return false;
  }
}

/*
 * Whoever reads a result counts on the columns that its query has told at build time (see embed.sh). An error rather
 * than values of other columns, should the database ever give others.
 */
static bool check_columns(const struct query *query, const PGresult *result, struct error *error) {
  if (query->columns == NULL || PQresultStatus(result) != PGRES_TUPLES_OK)
    return true;
  int column = 0;
  for (; query->columns[column] != NULL; column++) {
    const char *name = PQfname(result, column);
    if (name == NULL || strcmp(name, query->columns[column]) != 0) {
      error_set(error, FAILURE_FATAL, "a query gives column %s where %s belongs", name != NULL ? name : "(none)",
                query->columns[column]);
      return error_detail(error, "%.200s", query->text);
    }
  }
  return PQnfields(result) == column ||
         error_set(error, FAILURE_FATAL, "a query gives column %s, which nobody reads", PQfname(result, column));
}

/* What was said meanwhile is told when it is committed. */
static bool settle_notices(struct pgconn *connection, bool succeeded) {
  if (!succeeded)
    notices_clear(&connection->notices);
  else if (connection->notice_reader != NULL && PQtransactionStatus(connection->pg) == PQTRANS_IDLE)
    notices_tell(&connection->notices, connection->notice_reader);
  return succeeded;
}

/* ---- statements ------------------------------------------------------------------------------------------------ */

static bool is_prepared(const struct pgconn *connection, const char *name) {
  for (size_t i = 0; i < connection->prepared_count; i++)
    if (strcmp(connection->prepared[i], name) == 0)
      return true;
  return false;
}

/* What the server has and is not known here would be prepared again, which it refuses. */
static bool remember_prepared(struct pgconn *connection, const char *name) {
  if (connection->prepared_count == connection->prepared_capacity) {
    size_t capacity = connection->prepared_capacity == 0 ? 32 : 2 * connection->prepared_capacity;
    char **grown = realloc(connection->prepared, capacity * sizeof *grown);
    if (grown == NULL)
      return false;
    connection->prepared = grown;
    connection->prepared_capacity = capacity;
  }
  char *copy = strdup(name);
  if (copy != NULL)
    connection->prepared[connection->prepared_count++] = copy;
  return copy != NULL;
}

void pgconn_forget(struct pgconn *connection, const char *name) {
  for (size_t i = 0; i < connection->prepared_count; i++) {
    if (strcmp(connection->prepared[i], name) != 0)
      continue;
    buffer_add_format(&connection->forgotten, "deallocate \"%s\";", name);
    free(connection->prepared[i]);
    connection->prepared[i] = connection->prepared[--connection->prepared_count];
    return;
  }
}

/* Not in a transaction: one that has failed would refuse it. */
static void deallocate_forgotten(struct pgconn *connection) {
  if (connection->forgotten.length == 0 || connection->broken || PQtransactionStatus(connection->pg) != PQTRANS_IDLE)
    return;
  /* What went wrong with the connection is heard of by what comes next. */
  (void)!pgconn_script(connection, connection->forgotten.data, NULL);
  buffer_clear(&connection->forgotten);
}

/* For the replies that one statement may have more: to preparing it, and to running it. */
static bool make_room(struct pgconn *connection) {
  if (connection->expected_count + 2 <= connection->expected_capacity)
    return true;
  size_t capacity = connection->expected_capacity == 0 ? 16 : 2 * connection->expected_capacity;
  void *grown = realloc(connection->expected, capacity * sizeof *connection->expected);
  if (grown == NULL)
    return false;
  connection->expected = grown;
  connection->expected_capacity = capacity;
  return true;
}

static void expect(struct pgconn *connection, const struct query *query, bool prepares) {
  connection->expected[connection->expected_count].query = query;
  connection->expected[connection->expected_count].any_rows = NULL;
  connection->expected[connection->expected_count].topic = connection->topic;
  connection->expected[connection->expected_count++].prepares = prepares;
}

void pgconn_pipeline_begin(struct pgconn *connection) {
  deallocate_forgotten(connection);
  connection->expected_count = 0;
  connection->topic = connection->failed_topic = 0;
  connection->unsent = 0;
  connection->pipeline_failed = connection->broken || PQenterPipelineMode(connection->pg) != 1;
  if (connection->pipeline_failed)
    pgconn_break(connection, FAILURE_RETRY, &connection->pipeline_error, PQerrorMessage(connection->pg));
}

/* Sends what is buffered. */
static bool flush(struct pgconn *connection, struct error *error) {
  for (;;) {
    int unsent = PQflush(connection->pg);
    if (unsent == 0)
      return true;
    if (unsent < 0)
      return pgconn_break(connection, FAILURE_RETRY, error, PQerrorMessage(connection->pg));
    if (!pgconn_wait_socket(connection, POLLIN | POLLOUT, connection->deadline, error))
      return false;
    /* The server may be waiting for us to read. */
    if (!PQconsumeInput(connection->pg))
      return pgconn_break(connection, FAILURE_RETRY, error, PQerrorMessage(connection->pg));
  }
}

/*
 * A pipeline's statements are sent together, because each message that arrives alone wakes the server. A large one is
 * sent in parts of this size, so that libpq's buffer does not grow with it and the server begins meanwhile. Bytes.
 */
#define SENT_TOGETHER ((size_t)32 * 1024)

/* Values from this size on are sent as pgconn_large.c says. Bytes. */
#define LARGE ((size_t)4 * 1024 * 1024)

static size_t size_of(const struct values *values) {
  size_t size = 0;
  for (int i = 0; i < values->count; i++)
    size += values->texts[i] != NULL ? strlen(values->texts[i]) : 0;
  return size;
}

static bool flush_if_large(struct pgconn *connection, size_t size, struct error *error) {
  connection->unsent += size;
  if (connection->unsent < SENT_TOGETHER)
    return true;
  connection->unsent = 0;
  return flush(connection, error);
}

/* Whether this pipeline prepares the statement already. */
static bool prepares_now(const struct pgconn *connection, const char *name) {
  for (size_t i = 0; i < connection->expected_count; i++)
    if (connection->expected[i].prepares && strcmp(connection->expected[i].query->name, name) == 0)
      return true;
  return false;
}

/*
 * A statement is for the server that takes writes, though it only reads: Pgpool-II would ask a standby, which may lag,
 * unless these are its first words. Freed by the caller; NULL: out of memory.
 */
static char *for_primary(const char *text) {
  static const char words[] = "/*NO LOAD BALANCE*/ ";
  size_t length = strlen(text);
  char *marked = malloc(sizeof words + length);
  if (marked != NULL) {
    memcpy(marked, words, sizeof words - 1);
    memcpy(marked + sizeof words - 1, text, length + 1);
  }
  return marked;
}

/* Sends it, and before that what prepares it, where that is due. */
static bool send_query(struct pgconn *connection, const struct query *query, const struct values *values) {
  bool has_name = query->name != NULL;
  if (!has_name || (!is_prepared(connection, query->name) && !prepares_now(connection, query->name))) {
    char *text = for_primary(query->text);
    bool sent = text != NULL && (has_name ? PQsendPrepare(connection->pg, query->name, text, values->count, NULL)
                                          : PQsendQueryParams(connection->pg, text, values->count, NULL, values->texts,
                                                              NULL, NULL, 0)) == 1;
    free(text);
    if (!has_name || !sent)
      return sent;
    expect(connection, query, true);
  }
  return PQsendQueryPrepared(connection->pg, query->name, values->count, values->texts, NULL, NULL, 0) == 1;
}

struct statement {
  const struct query *query;
  const struct values *values;
};

static bool send_statement(struct pgconn *connection, void *context) {
  const struct statement *statement = context;
  return send_query(connection, statement->query, statement->values);
}

static bool send_large(struct pgconn *connection, struct statement statement, struct error *error) {
  connection->unsent = 0;
  return flush(connection, error) &&
         pgconn_send_large(connection, &(struct pgconn_sender){send_statement, &statement}, error);
}

void pgconn_pipeline_add(struct pgconn *connection, const struct query *query, struct values values) {
  size_t size = size_of(&values);
  if (connection->pipeline_failed)
    return;
  if (!make_room(connection)) {
    connection->pipeline_failed =
        !pgconn_break(connection, FAILURE_RETRY, &connection->pipeline_error, "out of memory");
  } else if (size >= LARGE) {
    connection->pipeline_failed =
        !send_large(connection, (struct statement){query, &values}, &connection->pipeline_error);
    if (!connection->pipeline_failed)
      expect(connection, query, false);
  } else if (!send_query(connection, query, &values)) {
    connection->pipeline_failed =
        !pgconn_break(connection, FAILURE_RETRY, &connection->pipeline_error, PQerrorMessage(connection->pg));
  } else {
    expect(connection, query, false);
    connection->pipeline_failed = !flush_if_large(connection, size, &connection->pipeline_error);
  }
}

void pgconn_pipeline_needs(struct pgconn *connection, const struct buffer *value, const char *what) {
  if (connection->pipeline_failed || buffer_ok(value, what, &connection->pipeline_error))
    return;
  connection->pipeline_failed = true;
  connection->broken = true;
}

void pgconn_pipeline_tell_rows(struct pgconn *connection, bool *any) {
  if (!connection->pipeline_failed && connection->expected_count > 0)
    connection->expected[connection->expected_count - 1].any_rows = any;
}

void pgconn_pipeline_topic(struct pgconn *connection, int topic) {
  connection->topic = topic;
}

int pgconn_failed_topic(const struct pgconn *connection) {
  return connection->failed_topic;
}

/* Takes the reply to one statement, with the NULL that ends it. */
static bool take_reply(struct pgconn *connection, PGresult **reply, struct error *error) {
  if (!wait_reply(connection, error))
    return false;
  *reply = PQgetResult(connection->pg);
  if (*reply == NULL) {
    pgconn_break(connection, FAILURE_RETRY, error, PQerrorMessage(connection->pg));
    return false;
  }
  if (PQresultStatus(*reply) == PGRES_PIPELINE_SYNC)
    return true;
  if (!wait_reply(connection, error)) {
    PQclear(*reply);
    *reply = NULL;
    return false;
  }
  PQclear(PQgetResult(connection->pg));
  return true;
}

bool pgconn_pipeline_run(struct pgconn *connection, PGresult **results, size_t count, struct error *error) {
  for (size_t i = 0; results != NULL && i < count; i++)
    results[i] = NULL;
  if (connection->pipeline_failed) {
    if (error != NULL)
      *error = connection->pipeline_error;
    return false;
  }
  if (PQpipelineSync(connection->pg) != 1)
    return pgconn_break(connection, FAILURE_RETRY, error, PQerrorMessage(connection->pg));

  bool succeeded = true;
  size_t next_result = 0;
  for (size_t i = 0; i < connection->expected_count; i++) {
    PGresult *reply;
    if (!take_reply(connection, &reply, error))
      return false;
    /* The first failure is the one to tell of; what follows it was only skipped. */
    if (succeeded && !result_succeeded(reply)) {
      set_result_error(connection, reply, error);
      connection->failed_topic = connection->expected[i].topic;
      succeeded = false;
    }
    if (succeeded && !connection->expected[i].prepares)
      succeeded = check_columns(connection->expected[i].query, reply, error);
    if (connection->expected[i].any_rows != NULL && PQntuples(reply) > 0)
      *connection->expected[i].any_rows = true;
    if (connection->expected[i].prepares) {
      if (result_succeeded(reply) && !remember_prepared(connection, connection->expected[i].query->name) && succeeded)
        succeeded = pgconn_break(connection, FAILURE_RETRY, error, "out of memory");
    } else if (results != NULL && next_result < count && result_succeeded(reply)) {
      results[next_result++] = reply;
      reply = NULL;
    } else {
      next_result++;
    }
    PQclear(reply);
  }
  /* Where nobody began a transaction the end of the pipeline commits, which may fail, too. */
  for (bool synced = false; !synced;) {
    PGresult *reply;
    if (!take_reply(connection, &reply, succeeded ? error : NULL))
      return false;
    synced = PQresultStatus(reply) == PGRES_PIPELINE_SYNC;
    if (!synced && succeeded) {
      set_result_error(connection, reply, error);
      succeeded = false;
    }
    PQclear(reply);
  }
  if (PQexitPipelineMode(connection->pg) != 1)
    return pgconn_break(connection, FAILURE_RETRY, succeeded ? error : NULL, PQerrorMessage(connection->pg));
  return settle_notices(connection, succeeded);
}

bool pgconn_run(struct pgconn *connection, const struct query *query, struct values values, PGresult **result,
                struct error *error) {
  pgconn_pipeline_begin(connection);
  pgconn_pipeline_add(connection, query, values);
  if (pgconn_pipeline_run(connection, result, 1, error))
    return true;
  if (result != NULL) {
    PQclear(*result);
    *result = NULL;
  }
  return false;
}

static bool is_copy(const PGresult *result) {
  ExecStatusType status = PQresultStatus(result);
  return status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH;
}

/* Reads replies to the end of the statement; the first that is an error is told. */
static bool end_statement(struct pgconn *connection, struct error *error) {
  bool succeeded = true;
  for (;;) {
    if (!wait_reply(connection, succeeded ? error : NULL))
      return false;
    PGresult *reply = PQgetResult(connection->pg);
    if (reply == NULL)
      return settle_notices(connection, succeeded);
    if (is_copy(reply)) { /* libpq would give it again and again, until the rows have come or gone */
      PQclear(reply);
      return pgconn_break(connection, FAILURE_RETRY, succeeded ? error : NULL, "a copy began that nobody waits for");
    }
    if (succeeded && !result_succeeded(reply)) {
      set_result_error(connection, reply, error);
      succeeded = false;
    }
    PQclear(reply);
  }
}

static bool send_script(struct pgconn *connection, const char *text) {
  char *marked = for_primary(text);
  bool sent = marked != NULL && PQsendQuery(connection->pg, marked) == 1;
  free(marked);
  return sent;
}

bool pgconn_script(struct pgconn *connection, const char *text, struct error *error) {
  if (connection->broken || !send_script(connection, text))
    return pgconn_break(connection, FAILURE_RETRY, error, PQerrorMessage(connection->pg));
  return end_statement(connection, error);
}

/* ---- copying --------------------------------------------------------------------------------------------------- */

bool pgconn_copy_begin(struct pgconn *connection, const char *statement, struct error *error) {
  if (connection->broken || !send_script(connection, statement))
    return pgconn_break(connection, FAILURE_RETRY, error, PQerrorMessage(connection->pg));
  if (!wait_reply(connection, error))
    return false;
  PGresult *reply = PQgetResult(connection->pg);
  ExecStatusType status = PQresultStatus(reply);
  bool ok = status == PGRES_COPY_OUT || status == PGRES_COPY_IN;
  if (!ok) {
    set_result_error(connection, reply, error);
    (void)!end_statement(connection, NULL);
  }
  PQclear(reply);
  return ok;
}

bool pgconn_copy_read(struct pgconn *connection, int64_t milliseconds, char **row, int *length, struct error *error) {
  int64_t until = 0;
  for (;;) {
    *length = PQgetCopyData(connection->pg, row, 1);
    if (*length > 0)
      return true;
    *row = NULL;
    if (*length == -1)
      return end_statement(connection, error);
    if (*length == -2)
      return pgconn_break(connection, FAILURE_RETRY, error, PQerrorMessage(connection->pg));
    int64_t now = clock_now();
    until = until == 0 ? now + milliseconds : until;
    if (now >= until)
      return true;
    if (interrupted())
      return pgconn_leave(connection, error);
    struct pollfd polled = {.fd = PQsocket(connection->pg), .events = POLLIN};
    if (poll(&polled, 1, (int)(until - now)) > 0 && !PQconsumeInput(connection->pg))
      return pgconn_break(connection, FAILURE_RETRY, error, PQerrorMessage(connection->pg));
  }
}

bool pgconn_copy_write(struct pgconn *connection, const char *data, size_t length, struct error *error) {
  if (PQputCopyData(connection->pg, data, (int)length) != 1)
    return pgconn_break(connection, FAILURE_RETRY, error, PQerrorMessage(connection->pg));
  return flush(connection, error);
}

bool pgconn_copy_end(struct pgconn *connection, struct error *error) {
  if (PQputCopyEnd(connection->pg, NULL) != 1)
    return pgconn_break(connection, FAILURE_RETRY, error, PQerrorMessage(connection->pg));
  return end_statement(connection, error);
}
