#include "postgres/pgconn.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "common/buffer.h"
#include "common/clock.h"
#include "common/interrupt.h"
#include "common/text.h"
#include "postgres/hosts.h"
#include "postgres/sqlstate.h"

/*
 * A machine that dies says nothing, and TCP alone believes in it for a quarter of an hour. Milliseconds without an
 * acknowledgement of what was sent, and when to ask on an idle connection; what a conninfo says holds instead. The
 * servers are told the same of us.
 */
#define USER_TIMEOUT "60000"
#define KEEPALIVES_IDLE "15"
#define KEEPALIVES_INTERVAL "5"
#define KEEPALIVES_COUNT "3"
/* Seconds for asking a server to end a statement. */
#define CANCEL_TIMEOUT 1
/* How often a wait looks whether the process is told to leave. */
#define INTERRUPT_INTERVAL 100
/* Bytes of DEALLOCATE statements that wait for a moment; what is more is kept by the server. */
#define FORGOTTEN_LIMIT ((size_t)1024 * 1024)

struct pgconn {
  PGconn *pg;
  int64_t deadline; /* clock_now() at which calls fail; 0: never */
  bool broken;      /* a reply was not waited for, so nothing more can be asked */
  char **prepared;  /* names of the statements that this connection has */
  size_t prepared_count;
  unsigned int names_made;
  size_t prepared_capacity;
  struct buffer forgotten; /* statements that take away others, which nobody needs any more */
  /* one entry for each reply that a pipeline waits for */
  struct {
    const struct query *query;
    bool prepares;
  } * expected;
  size_t expected_count;
  size_t expected_capacity;
  bool pipeline_failed;        /* something could not even be sent; */
  struct error pipeline_error; /* why */
  char description[256];
};

/* ---- waiting --------------------------------------------------------------------------------------------------- */

/* The connection is of no use after this: what was asked may still be answered, and nobody would know to what. */
static bool give_up(struct pgconn *connection, enum failure kind, struct error *error, const char *message) {
  connection->broken = true;
  return error_set(error, kind, "%s: %s", connection->description, message);
}

/* What nobody waits for any more must not go on at the server. */
static bool leave(struct pgconn *connection, struct error *error) {
  pgconn_cancel(connection);
  return give_up(connection, FAILURE_STOP, error, "told to leave");
}

/* Waits until the socket can be read (or written, if asked for). */
static bool wait_socket(struct pgconn *connection, short events, int64_t deadline, struct error *error) {
  for (;;) {
    if (interrupted())
      return leave(connection, error);
    int timeout = INTERRUPT_INTERVAL;
    if (deadline != 0) {
      int64_t left = deadline - clock_now();
      if (left <= 0)
        return give_up(connection, FAILURE_RETRY, error, "no answer in time");
      if (left < timeout)
        timeout = (int)left;
    }
    struct pollfd polled = {.fd = PQsocket(connection->pg), .events = events};
    int ready = poll(&polled, 1, timeout);
    if (ready > 0)
      return true;
    if (ready < 0 && errno != EINTR)
      return give_up(connection, FAILURE_RETRY, error, strerror(errno));
  }
}

/* Sends what is buffered, and waits until PQgetResult would not block. */
static bool wait_reply(struct pgconn *connection, struct error *error) {
  for (;;) {
    int unsent = PQflush(connection->pg);
    if (unsent < 0)
      return give_up(connection, FAILURE_RETRY, error, PQerrorMessage(connection->pg));
    if (unsent == 0 && !PQisBusy(connection->pg))
      return true;
    if (!wait_socket(connection, (short)(POLLIN | (unsent ? POLLOUT : 0)), connection->deadline, error))
      return false;
    if (!PQconsumeInput(connection->pg))
      return give_up(connection, FAILURE_RETRY, error, PQerrorMessage(connection->pg));
  }
}

/* ---- errors ---------------------------------------------------------------------------------------------------- */

static bool set_result_error(struct pgconn *connection, const PGresult *result, struct error *error) {
  const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  if (sqlstate == NULL) {
    connection->broken = PQstatus(connection->pg) == CONNECTION_BAD;
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

/* ---- opening and closing --------------------------------------------------------------------------------------- */

/* Nobody reads notices: what is worth telling comes as an error or as a result. */
static void ignore_notice(void *unused, const PGresult *result) {
  (void)unused;
  (void)result;
}

static void pass_on_notice(void *tell, const PGresult *result) {
  const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
  const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  if (message != NULL)
    ((struct notice_reader *)tell)->tell(severity != NULL && strcmp(severity, "WARNING") == 0, message);
}

void pgconn_read_notices(struct pgconn *connection, struct notice_reader *reader) {
  PQsetNoticeReceiver(connection->pg, pass_on_notice, reader);
}

static void trim_newline(char *text) {
  size_t length = strlen(text);
  while (length > 0 && text[length - 1] == '\n')
    text[--length] = '\0';
}

static bool connect_failed(struct pgconn *connection, struct error *error) {
  char reason[sizeof error->message];
  letters_print(reason, sizeof reason, "%s", PQerrorMessage(connection->pg));
  trim_newline(reason);
  error_set(error, FAILURE_RETRY, "%s", reason[0] != '\0' ? reason : "cannot connect");
  return false;
}

static bool connect_within(struct pgconn *connection, int64_t deadline, struct error *error) {
  PostgresPollingStatusType next = PGRES_POLLING_WRITING;
  while (next != PGRES_POLLING_OK) {
    if (next == PGRES_POLLING_FAILED || PQstatus(connection->pg) == CONNECTION_BAD)
      return connect_failed(connection, error);
    if (!wait_socket(connection, next == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline, error))
      return false;
    next = PQconnectPoll(connection->pg);
  }
  return true;
}

static void describe(struct pgconn *connection) {
  const char *host = PQhost(connection->pg);
  const char *port = PQport(connection->pg);
  const char *database = PQdb(connection->pg);
  letters_print(connection->description, sizeof connection->description, "%s:%s/%s",
                host != NULL && host[0] != '\0' ? host : "local", port != NULL ? port : "",
                database != NULL ? database : "");
}

/* Tries one server after another, and says in `silent` which of them did not answer at all. */
static bool connect_to_one(struct pgconn *connection, const char *encoding, const char *conninfo,
                           const char *application_name, int64_t deadline, char *silent, size_t size,
                           struct error *error) {
  struct servers servers = {.host = NULL};
  bool ok;
  bool again;
  do {
    const char *const keywords[] = {"tcp_user_timeout",
                                    "keepalives_idle",
                                    "keepalives_interval",
                                    "keepalives_count",
                                    "dbname",
                                    "fallback_application_name",
                                    "client_encoding",
                                    "host",
                                    "hostaddr",
                                    "port",
                                    NULL};
    const char *const values[] = {
        USER_TIMEOUT, KEEPALIVES_IDLE, KEEPALIVES_INTERVAL, KEEPALIVES_COUNT, conninfo, application_name,
        encoding,     servers.host,    servers.hostaddr,    servers.port,     NULL};
    PQfinish(connection->pg);
    connection->broken = false;
    connection->pg = PQconnectStartParams(keywords, values, 1);
    if (connection->pg == NULL || !servers_read(&servers, connection->pg)) {
      ok = error_set(error, FAILURE_RETRY, "out of memory");
      break;
    }
    describe(connection);
    int64_t until = servers_wait_until(&servers, deadline);
    ok = connect_within(connection, until, error);
    again = !ok && !interrupted() && clock_now() >= until && servers_leave_out(&servers, connection->pg);
    if (again) {
      const char *address = PQhostaddr(connection->pg);
      describe(connection);
      letters_print(silent, size, "%s%s%s%s", connection->description, address[0] != '\0' ? " (" : "", address,
                    address[0] != '\0' ? ")" : "");
    }
  } while (again);
  servers_release(&servers);
  return ok;
}

/* Makes a connection in the place of one that there may be. */
static bool connect_in(struct pgconn *connection, const char *encoding, const char *conninfo,
                       const char *application_name, int64_t deadline, struct error *error) {
  char silent[sizeof connection->description] = "";
  if (!connect_to_one(connection, encoding, conninfo, application_name, deadline, silent, sizeof silent, error)) {
    if (silent[0] != '\0')
      error_detail(error, "%s does not answer either", silent);
    return false;
  }
  describe(connection);
  PQsetNoticeReceiver(connection->pg, ignore_notice, NULL);
  return PQsetnonblocking(connection->pg, 1) == 0 || connect_failed(connection, error);
}

/*
 * A database in SQL_ASCII holds bytes of which nobody knows what they mean. Asked for UTF-8, its server refuses to give
 * a batch in which one row is not; so the bytes are taken as they are, and who cannot take one refuses that row alone.
 */
static bool has_no_encoding(const struct pgconn *connection) {
  const char *encoding = PQparameterStatus(connection->pg, "server_encoding");
  return encoding != NULL && strcmp(encoding, "SQL_ASCII") == 0;
}

void pgconn_fit_text(const struct pgconn *connection, char *text) {
  const char *encoding = PQparameterStatus(connection->pg, "server_encoding");
  letters_tame(text, encoding != NULL && strcmp(encoding, "UTF8") != 0 && strcmp(encoding, "SQL_ASCII") != 0);
}

void pgconn_fit_error(const struct pgconn *connection, struct error *error) {
  pgconn_fit_text(connection, error->message);
  pgconn_fit_text(connection, error->detail);
  pgconn_fit_text(connection, error->hint);
}

bool pgconn_open(struct pgconn **connection, const char *conninfo, const char *application_name, int64_t deadline,
                 struct error *error) {
  struct pgconn *opened = calloc(1, sizeof *opened);
  if (opened == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  buffer_init(&opened->forgotten, FORGOTTEN_LIMIT);
  snprintf(opened->description, sizeof opened->description, "database");
  if (!connect_in(opened, "UTF8", conninfo, application_name, deadline, error) ||
      (has_no_encoding(opened) && !connect_in(opened, "SQL_ASCII", conninfo, application_name, deadline, error))) {
    pgconn_close(opened);
    return false;
  }
  *connection = opened;
  return true;
}

void pgconn_close(struct pgconn *connection) {
  if (connection == NULL)
    return;
  PQfinish(connection->pg);
  for (size_t i = 0; i < connection->prepared_count; i++)
    free(connection->prepared[i]);
  free(connection->prepared);
  free(connection->expected);
  buffer_release(&connection->forgotten);
  free(connection);
}

static void *send_cancel(void *cancel) {
  char ignored[256];
  (void)!PQcancel(cancel, ignored, sizeof ignored);
  PQfreeCancel(cancel);
  return NULL;
}

/*
 * libpq connects for this, and knows no end of waiting for that: where nobody answers a thread is left to it. It may be
 * there when the process ends: it has no memory but its own, and libpq never encrypts this question.
 */
void pgconn_cancel(struct pgconn *connection) {
  if (connection == NULL || PQtransactionStatus(connection->pg) != PQTRANS_ACTIVE)
    return;
  connection->broken = true;
  pthread_t thread;
  PGcancel *cancel = PQgetCancel(connection->pg);
  if (cancel == NULL || pthread_create(&thread, NULL, send_cancel, cancel) != 0) {
    PQfreeCancel(cancel);
    return;
  }
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += CANCEL_TIMEOUT;
  if (pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &until) != 0)
    pthread_detach(thread);
}

static bool has_own_user_timeout(const struct pgconn *connection) {
  PQconninfoOption *options = PQconninfo(connection->pg);
  bool own = false;
  for (const PQconninfoOption *option = options; option != NULL && option->keyword != NULL; option++)
    if (strcmp(option->keyword, "tcp_user_timeout") == 0)
      own = option->val != NULL && strcmp(option->val, USER_TIMEOUT) != 0;
  PQconninfoFree(options);
  return own;
}

void pgconn_allow_stall(struct pgconn *connection, int64_t milliseconds) {
  unsigned int timeout = (unsigned int)(milliseconds < 3600000 ? milliseconds : 3600000);
  unsigned int least = (unsigned int)strtoul(USER_TIMEOUT, NULL, 10);
  /* A socket in the file system knows no such thing, and needs none. */
  if (timeout > least && !has_own_user_timeout(connection))
    (void)setsockopt(PQsocket(connection->pg), IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout, sizeof timeout);
}

void pgconn_set_deadline(struct pgconn *connection, int64_t milliseconds) {
  connection->deadline = milliseconds == 0 ? 0 : clock_now() + milliseconds;
}

void pgconn_make_name(struct pgconn *connection, char name[STATEMENT_NAME_SIZE]) {
  snprintf(name, STATEMENT_NAME_SIZE, "made_%u", connection->names_made++);
}

/* A server that has gone has closed its end. Before that it may have said why, so one read need not find out. */
bool pgconn_alive(struct pgconn *connection) {
  while (!connection->broken && PQconsumeInput(connection->pg) == 1 && PQstatus(connection->pg) == CONNECTION_OK) {
    struct pollfd polled = {.fd = PQsocket(connection->pg), .events = POLLIN};
    if (poll(&polled, 1, 0) <= 0)
      return true;
  }
  return false;
}

const char *pgconn_describe(const struct pgconn *connection) {
  return connection->description;
}

int pgconn_told_pid(const struct pgconn *connection) {
  return PQbackendPID(connection->pg);
}

int pgconn_server_version(const struct pgconn *connection) {
  return PQserverVersion(connection->pg);
}

/* ---- statements ------------------------------------------------------------------------------------------------ */

static bool is_prepared(const struct pgconn *connection, const char *name) {
  for (size_t i = 0; i < connection->prepared_count; i++)
    if (strcmp(connection->prepared[i], name) == 0)
      return true;
  return false;
}

/* Without memory for it, it is only prepared again, and that is refused: the caller will hear of it. */
static void remember_prepared(struct pgconn *connection, const char *name) {
  if (connection->prepared_count == connection->prepared_capacity) {
    size_t capacity = connection->prepared_capacity == 0 ? 32 : 2 * connection->prepared_capacity;
    char **grown = realloc(connection->prepared, capacity * sizeof *grown);
    if (grown == NULL)
      return;
    connection->prepared = grown;
    connection->prepared_capacity = capacity;
  }
  char *copy = strdup(name);
  if (copy != NULL)
    connection->prepared[connection->prepared_count++] = copy;
}

void pgconn_forget(struct pgconn *connection, const char *name) {
  for (size_t i = 0; i < connection->prepared_count; i++) {
    if (strcmp(connection->prepared[i], name) != 0)
      continue;
    buffer_add_format(&connection->forgotten, "deallocate %s;", name);
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

static bool expect(struct pgconn *connection, const struct query *query, bool prepares) {
  if (connection->expected_count == connection->expected_capacity) {
    size_t capacity = connection->expected_capacity == 0 ? 16 : 2 * connection->expected_capacity;
    void *grown = realloc(connection->expected, capacity * sizeof *connection->expected);
    if (grown == NULL)
      return false;
    connection->expected = grown;
    connection->expected_capacity = capacity;
  }
  connection->expected[connection->expected_count].query = query;
  connection->expected[connection->expected_count++].prepares = prepares;
  return true;
}

void pgconn_pipeline_begin(struct pgconn *connection) {
  deallocate_forgotten(connection);
  connection->expected_count = 0;
  connection->pipeline_failed = connection->broken || PQenterPipelineMode(connection->pg) != 1;
  if (connection->pipeline_failed)
    give_up(connection, FAILURE_RETRY, &connection->pipeline_error, PQerrorMessage(connection->pg));
}

/* Sends what is buffered, so that libpq's buffer does not grow with the pipeline. */
static bool flush(struct pgconn *connection, struct error *error) {
  for (;;) {
    int unsent = PQflush(connection->pg);
    if (unsent == 0)
      return true;
    if (unsent < 0)
      return give_up(connection, FAILURE_RETRY, error, PQerrorMessage(connection->pg));
    if (!wait_socket(connection, POLLIN | POLLOUT, connection->deadline, error))
      return false;
    /* The server may be waiting for us to read. */
    if (!PQconsumeInput(connection->pg))
      return give_up(connection, FAILURE_RETRY, error, PQerrorMessage(connection->pg));
  }
}

/* Whether this pipeline prepares the statement already. */
static bool prepares_now(const struct pgconn *connection, const char *name) {
  for (size_t i = 0; i < connection->expected_count; i++)
    if (connection->expected[i].prepares && strcmp(connection->expected[i].query->name, name) == 0)
      return true;
  return false;
}

void pgconn_pipeline_add(struct pgconn *connection, const struct query *query, struct values values) {
  if (connection->pipeline_failed)
    return;
  bool sent = true;
  if (query->name != NULL) {
    if (!is_prepared(connection, query->name) && !prepares_now(connection, query->name))
      sent = PQsendPrepare(connection->pg, query->name, query->text, values.count, NULL) == 1 &&
             expect(connection, query, true);
    sent = sent && PQsendQueryPrepared(connection->pg, query->name, values.count, values.texts, NULL, NULL, 0) == 1;
  } else {
    sent = PQsendQueryParams(connection->pg, query->text, values.count, NULL, values.texts, NULL, NULL, 0) == 1;
  }
  if (!sent || !expect(connection, query, false)) {
    give_up(connection, FAILURE_RETRY, &connection->pipeline_error, PQerrorMessage(connection->pg));
    connection->pipeline_failed = true;
  } else if (!flush(connection, &connection->pipeline_error)) {
    connection->pipeline_failed = true;
  }
}

/* Takes the reply to one statement, with the NULL that ends it. */
static bool take_reply(struct pgconn *connection, PGresult **reply, struct error *error) {
  if (!wait_reply(connection, error))
    return false;
  *reply = PQgetResult(connection->pg);
  if (*reply == NULL) {
    give_up(connection, FAILURE_RETRY, error, PQerrorMessage(connection->pg));
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
    return give_up(connection, FAILURE_RETRY, error, PQerrorMessage(connection->pg));

  bool succeeded = true;
  size_t next_result = 0;
  for (size_t i = 0; i < connection->expected_count; i++) {
    PGresult *reply;
    if (!take_reply(connection, &reply, error))
      return false;
    /* The first failure is the one to tell of; what follows it was only skipped. */
    if (succeeded && !result_succeeded(reply)) {
      set_result_error(connection, reply, error);
      succeeded = false;
    }
    if (connection->expected[i].prepares) {
      if (result_succeeded(reply))
        remember_prepared(connection, connection->expected[i].query->name);
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
    return give_up(connection, FAILURE_RETRY, succeeded ? error : NULL, PQerrorMessage(connection->pg));
  return succeeded;
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

/* Reads replies to the end of the statement; the first that is an error is told. */
static bool end_statement(struct pgconn *connection, struct error *error) {
  bool succeeded = true;
  for (;;) {
    if (!wait_reply(connection, succeeded ? error : NULL))
      return false;
    PGresult *reply = PQgetResult(connection->pg);
    if (reply == NULL)
      return succeeded;
    if (succeeded && !result_succeeded(reply)) {
      set_result_error(connection, reply, error);
      succeeded = false;
    }
    PQclear(reply);
  }
}

bool pgconn_script(struct pgconn *connection, const char *text, struct error *error) {
  if (connection->broken || PQsendQuery(connection->pg, text) != 1)
    return give_up(connection, FAILURE_RETRY, error, PQerrorMessage(connection->pg));
  return end_statement(connection, error);
}

/* ---- copying --------------------------------------------------------------------------------------------------- */

bool pgconn_copy_begin(struct pgconn *connection, const char *statement, struct error *error) {
  if (connection->broken || PQsendQuery(connection->pg, statement) != 1)
    return give_up(connection, FAILURE_RETRY, error, PQerrorMessage(connection->pg));
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
      return give_up(connection, FAILURE_RETRY, error, PQerrorMessage(connection->pg));
    int64_t now = clock_now();
    until = until == 0 ? now + milliseconds : until;
    if (now >= until)
      return true;
    if (interrupted())
      return leave(connection, error);
    struct pollfd polled = {.fd = PQsocket(connection->pg), .events = POLLIN};
    if (poll(&polled, 1, (int)(until - now)) > 0 && !PQconsumeInput(connection->pg))
      return give_up(connection, FAILURE_RETRY, error, PQerrorMessage(connection->pg));
  }
}

bool pgconn_copy_write(struct pgconn *connection, const char *data, size_t length, struct error *error) {
  if (PQputCopyData(connection->pg, data, (int)length) != 1)
    return give_up(connection, FAILURE_RETRY, error, PQerrorMessage(connection->pg));
  return flush(connection, error);
}

bool pgconn_copy_end(struct pgconn *connection, struct error *error) {
  if (PQputCopyEnd(connection->pg, NULL) != 1)
    return give_up(connection, FAILURE_RETRY, error, PQerrorMessage(connection->pg));
  return end_statement(connection, error);
}

/* ---------------------------------------------------------------------------------------------------------------- */

void pgconn_rollback(struct pgconn *connection) {
  if (connection->broken || PQtransactionStatus(connection->pg) == PQTRANS_IDLE)
    return;
  if (!pgconn_script(connection, "rollback", NULL))
    connection->broken = true;
}

bool pgconn_wait_notify(struct pgconn *connection, int64_t milliseconds, int wake_fd) {
  int64_t until = clock_now() + milliseconds;
  for (;;) {
    if (!pgconn_alive(connection))
      return false;
    PGnotify *notification = PQnotifies(connection->pg);
    if (notification != NULL) {
      for (; notification != NULL; notification = PQnotifies(connection->pg))
        PQfreemem(notification);
      return true;
    }
    int64_t left = until - clock_now();
    if (left <= 0)
      return false;
    struct pollfd polled[2] = {{.fd = PQsocket(connection->pg), .events = POLLIN}, {.fd = wake_fd, .events = POLLIN}};
    if (poll(polled, 2, (int)left) > 0 && polled[1].revents != 0)
      return false;
  }
}
