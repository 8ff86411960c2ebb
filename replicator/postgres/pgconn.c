/* Opens connections, and closes them; what asks something of one is in pgconn_statement.c. */
#include "postgres/pgconn.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "common/clock.h"
#include "common/interrupt.h"
#include "common/portable.h"
#include "common/text.h"
#include "postgres/hosts.h"
#include "postgres/pgconn_wait.h"

/*
 * A machine that dies says nothing, and TCP alone believes in it for a quarter of an hour. Milliseconds without an
 * acknowledgement of what was sent, and when to ask on an idle connection; what a conninfo says holds instead. The
 * servers are told the same of us.
 */
#define USER_TIMEOUT "60000"
#define KEEPALIVES_IDLE "15"
#define KEEPALIVES_INTERVAL "5"
#define KEEPALIVES_COUNT "3"
/* What pg_stat_activity shows, unless a conninfo says something else. */
#define APPLICATION_NAME "rowrelay"
/* Seconds for asking a server to end a statement. */
#define CANCEL_TIMEOUT 1
/* Bytes of DEALLOCATE statements that wait for a moment; what is more is kept by the server. */
#define FORGOTTEN_LIMIT ((size_t)1024 * 1024)

/* ---- opening and closing --------------------------------------------------------------------------------------- */

/*
 * Nobody reads most notices: what is worth telling comes as an error or as a result. What a server says while nobody
 * asks it anything may be that it ends the session: its locks are free from then on, some time before it closes its
 * end.
 */
static void take_notice(void *context, const PGresult *notice) {
  struct pgconn *connection = context;
  const char *severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
  if (severity == NULL)
    return;
  if (strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0) {
    connection->broken = true;
    const char *message = PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY);
    text_print(connection->ending, sizeof connection->ending, "%s",
               message != NULL ? message : "the session has ended");
  } else if (connection->notice_reader != NULL) {
    notices_take(&connection->notices, connection->notice_reader, notice);
  }
}

void pgconn_read_notices(struct pgconn *connection, const struct notice_reader *reader) {
  connection->notice_reader = reader;
}

const struct notice_reader *pgconn_notice_reader(const struct pgconn *connection) {
  return connection->notice_reader;
}

static void trim_newline(char *text) {
  size_t length = strlen(text);
  while (length > 0 && text[length - 1] == '\n')
    text[--length] = '\0';
}

static bool connect_failed(struct pgconn *connection, struct error *error) {
  char reason[sizeof error->message];
  text_print(reason, sizeof reason, "%s", PQerrorMessage(connection->pg));
  trim_newline(reason);
  error_set(error, FAILURE_RETRY, "%s", reason[0] != '\0' ? reason : "cannot connect");
  if (PQconnectionNeedsPassword(connection->pg))
    error_hint(error, "a password for it belongs into ~/.pgpass of the user who runs this, or into a service file");
  return false;
}

static bool connect_within(struct pgconn *connection, int64_t deadline, struct error *error) {
  PostgresPollingStatusType next = PGRES_POLLING_WRITING;
  while (next != PGRES_POLLING_OK) {
    if (next == PGRES_POLLING_FAILED || PQstatus(connection->pg) == CONNECTION_BAD)
      return connect_failed(connection, error);
    if (!pgconn_wait_socket(connection, next == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline, error))
      return false;
    next = PQconnectPoll(connection->pg);
  }
  return true;
}

static void describe(struct pgconn *connection) {
  const char *host = PQhost(connection->pg);
  const char *port = PQport(connection->pg);
  const char *database = PQdb(connection->pg);
  text_print(connection->description, sizeof connection->description, "%s:%s/%s",
             host != NULL && host[0] != '\0' ? host : "local", port != NULL ? port : "",
             database != NULL ? database : "");
}

/* One attempt to connect. */
struct attempt {
  const char *conninfo;
  const char *encoding; /* of the client's side */
  int64_t deadline;
  char silent[256]; /* which server did not answer at all; "": all did */
};

/* Tries one server after another. */
static bool connect_to_one(struct pgconn *connection, struct attempt *attempt, struct error *error) {
  struct hosts servers = {.host = NULL};
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
    const char *const values[] = {USER_TIMEOUT,
                                  KEEPALIVES_IDLE,
                                  KEEPALIVES_INTERVAL,
                                  KEEPALIVES_COUNT,
                                  attempt->conninfo,
                                  APPLICATION_NAME,
                                  attempt->encoding,
                                  servers.host,
                                  servers.hostaddr,
                                  servers.port,
                                  NULL};
    PQfinish(connection->pg);
    connection->broken = false;
    connection->pg = PQconnectStartParams(keywords, values, 1);
    if (connection->pg == NULL || !hosts_read(&servers, connection->pg)) {
      ok = error_set(error, FAILURE_RETRY, "out of memory");
      break;
    }
    describe(connection);
    int64_t until = hosts_wait_until(&servers, attempt->deadline);
    ok = connect_within(connection, until, error);
    again = !ok && !interrupted() && clock_now() >= until && hosts_leave_out(&servers, connection->pg);
    if (again) {
      const char *address = PQhostaddr(connection->pg);
      describe(connection);
      text_print(attempt->silent, sizeof attempt->silent, "%s%s%s%s", connection->description,
                 address[0] != '\0' ? " (" : "", address, address[0] != '\0' ? ")" : "");
    }
  } while (again);
  hosts_release(&servers);
  return ok;
}

/* Makes a connection in the place of one that there may be. */
static bool connect_in(struct pgconn *connection, struct attempt attempt, struct error *error) {
  if (!connect_to_one(connection, &attempt, error)) {
    if (attempt.silent[0] != '\0')
      error_detail(error, "%s does not answer either", attempt.silent);
    return false;
  }
  describe(connection);
  PQsetNoticeReceiver(connection->pg, take_notice, connection);
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
  text_sanitize(text, encoding != NULL && strcmp(encoding, "UTF8") != 0 && strcmp(encoding, "SQL_ASCII") != 0);
}

void pgconn_fit_error(const struct pgconn *connection, struct error *error) {
  pgconn_fit_text(connection, error->message);
  pgconn_fit_text(connection, error->detail);
  pgconn_fit_text(connection, error->hint);
}

bool pgconn_open(struct pgconn **connection, const char *conninfo, int64_t deadline, struct error *error) {
  struct attempt attempt = {.conninfo = conninfo, .encoding = "UTF8", .deadline = deadline};
  struct attempt of_bytes = {.conninfo = conninfo, .encoding = "SQL_ASCII", .deadline = deadline};
  struct pgconn *opened = calloc(1, sizeof *opened);
  if (opened == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  buffer_init(&opened->forgotten, FORGOTTEN_LIMIT);
  notices_init(&opened->notices);
  snprintf(opened->description, sizeof opened->description, "database");
  if (!connect_in(opened, attempt, error) || (has_no_encoding(opened) && !connect_in(opened, of_bytes, error))) {
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
  notices_clear(&connection->notices);
  free(connection);
}

static void *ask_for_cancel(void *cancel) {
  char ignored[256];
  (void)!PQcancel(cancel, ignored, sizeof ignored);
  PQfreeCancel(cancel);
  return NULL;
}

/*
 * libpq connects for this, and knows no end of waiting for that: where nobody answers a thread is left to it. It may be
 * there when the process ends: it has no memory but its own, and libpq never encrypts this question.
 */
void pgconn_send_cancel(PGcancel *cancel) {
  pthread_t thread;
  if (cancel == NULL || pthread_create(&thread, NULL, ask_for_cancel, cancel) != 0) {
    PQfreeCancel(cancel);
    return;
  }
  portable_join(thread, CANCEL_TIMEOUT);
}

void pgconn_cancel(struct pgconn *connection) {
  if (connection == NULL || PQtransactionStatus(connection->pg) != PQTRANS_ACTIVE)
    return;
  connection->broken = true;
  pgconn_send_cancel(PQgetCancel(connection->pg));
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
    portable_set_user_timeout(PQsocket(connection->pg), timeout);
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
    (void)PQisBusy(connection->pg); /* which looks at what has come, and calls take_notice() */
    struct pollfd polled = {.fd = PQsocket(connection->pg), .events = POLLIN};
    if (!connection->broken && poll(&polled, 1, 0) <= 0)
      return true;
  }
  return false;
}

const char *pgconn_describe(const struct pgconn *connection) {
  return connection->description;
}

const char *pgconn_database(const struct pgconn *connection) {
  const char *name = PQdb(connection->pg);
  return name != NULL ? name : "";
}

int pgconn_told_pid(const struct pgconn *connection) {
  return PQbackendPID(connection->pg);
}

int pgconn_server_version(const struct pgconn *connection) {
  return PQserverVersion(connection->pg);
}

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
