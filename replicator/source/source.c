#include "source/source.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "postgres/result.h"
#include "postgres/session.h"
#include "queries.h"
#include "schema_files.h"

/* Milliseconds for the first queries of a long-running process. */
#define BEGIN_TIMEOUT 15000
/* How many tables a session captures, so that it takes some 100 MB at the source. */
#define TABLES_OF_A_SESSION 200

struct source {
  struct pgconn *connection;
  enum session_purpose purpose;
  char *conninfo; /* owned */
};

static _Atomic int64_t refused_at = INT64_MIN; /* when an attempt to connect last failed; clock_now() */

/* A wrong conninfo is told apart from an unreachable server: trying again does not help then. */
static bool check_conninfo(const char *conninfo, struct error *error) {
  bool is_name = strchr(conninfo, '=') == NULL && strstr(conninfo, "://") == NULL;
  if (is_name)
    return true;
  char *message = NULL;
  PQconninfoOption *options = PQconninfoParse(conninfo, &message);
  if (message != NULL)
    message[strcspn(message, "\n")] = '\0';
  bool ok = options != NULL;
  if (!ok)
    error_set(error, message != NULL ? FAILURE_USAGE : FAILURE_RETRY, "%s",
              message != NULL ? message : "out of memory");
  PQconninfoFree(options);
  PQfreemem(message);
  return ok;
}

/* NULL on failure. */
static struct source *open_with(const char *conninfo, enum session_purpose purpose, int64_t timeout,
                                struct error *error) {
  if (conninfo == NULL)
    conninfo = "";
  if (!check_conninfo(conninfo, error))
    return NULL;
  struct source *opened = calloc(1, sizeof *opened);
  char *copy = strdup(conninfo);
  if (opened == NULL || copy == NULL) {
    error_set(error, FAILURE_RETRY, "out of memory");
    goto failed;
  }
  *opened = (struct source){.purpose = purpose, .conninfo = copy};
  if (pooler_open(&opened->connection, conninfo, purpose, timeout, error))
    return opened;
  atomic_store(&refused_at, clock_now());
failed:
  free(copy);
  free(opened);
  return NULL;
}

bool source_explain_place(struct error *error) {
  if (error->kind == FAILURE_RETRY && error->hint[0] == '\0')
    error_hint(error, "option -d, or PGHOST, PGPORT, PGUSER and PGDATABASE say where the source is, as for psql");
  return false;
}

bool source_open(struct source **source, const char *conninfo, struct error *error) {
  *source = open_with(conninfo, SESSION_COMMAND, POOLER_OPEN_TIMEOUT, error);
  return *source != NULL || source_explain_place(error);
}

bool source_open_within(struct source **source, const char *conninfo, int64_t timeout, struct error *error) {
  *source = open_with(conninfo, SESSION_COMMAND, timeout, error);
  return *source != NULL;
}

bool source_has_refused(int64_t since) {
  return atomic_load(&refused_at) >= since;
}

void source_close(struct source *source) {
  if (source == NULL)
    return;
  pgconn_close(source->connection);
  free(source->conninfo);
  free(source);
}

static bool renew(struct source *source, struct error *error) {
  struct pgconn *renewed;
  if (!pooler_open(&renewed, source->conninfo, source->purpose, POOLER_OPEN_TIMEOUT, error))
    return false;
  pgconn_read_notices(renewed, pgconn_notice_reader(source->connection));
  pgconn_close(source->connection);
  source->connection = renewed;
  return true;
}

bool source_renew_at_times(struct source *source, size_t done, struct error *error) {
  return done == 0 || done % TABLES_OF_A_SESSION != 0 || renew(source, error);
}

bool source_schema_version(struct source *source, int *version, struct error *error) {
  PGresult *result = NULL;
  if (!source_run(source, &QUERY_schema_is_installed, NO_VALUES, &result, error))
    return false;
  bool installed = result_bool(result, 0, 0);
  PQclear(result);
  *version = 0;
  if (!installed)
    return true;
  if (!source_run(source, &QUERY_schema_version, NO_VALUES, &result, error))
    return false;
  *version = result_int(result, 0, 0);
  PQclear(result);
  return true;
}

/* A server in recovery may have the schema of an earlier time: before init or an upgrade, or before all of it was
 * there. */
static bool is_in_recovery(struct source *source, bool *in_recovery, struct error *error) {
  PGresult *result = NULL;
  if (!source_run(source, &QUERY_schema_is_installed, NO_VALUES, &result, error))
    return false;
  *in_recovery = result_bool(result, 0, 1);
  PQclear(result);
  return true;
}

bool source_check_schema(struct source *source, struct error *error) {
  int version;
  bool in_recovery;
  if (!source_schema_version(source, &version, error))
    return false;
  if (version == SCHEMA_NEWEST)
    return true;
  const char *where = pgconn_describe(source->connection);
  if (!is_in_recovery(source, &in_recovery, error))
    return false;
  if (in_recovery)
    return error_set(error, FAILURE_RETRY, "database %s is in recovery, and does not have this program's schema yet",
                     where);
  if (version == SCHEMA_WITHOUT_CONTENTS) {
    error_set(error, FAILURE_USAGE,
              "schema rowrelay in database %s exists without its contents (a schema-only restore?)", where);
    return error_hint(error, "run: rowrelay uninstall, to remove its triggers; then run: rowrelay init");
  }
  if (version == 0)
    error_set(error, FAILURE_USAGE, "schema rowrelay is not installed in database %s", where);
  else
    error_set(error, FAILURE_USAGE, "schema rowrelay in database %s has version %d, but this program needs %d", where,
              version, SCHEMA_NEWEST);
  if (version == 0)
    return error_hint(error, "run: rowrelay init; to see what it needs, run: rowrelay doctor");
  if (version < SCHEMA_NEWEST)
    return error_hint(error, "run: rowrelay init");
  return error_hint(error, "upgrade rowrelay on this machine");
}

enum { COLUMN_GOES_ON_AFTER, COLUMN_IS_ALARM };

bool source_begin(struct source *source, bool is_here, struct error *error) {
  PGresult *result = NULL;
  if (!source_run(source, &QUERY_skip_lost_ids, VALUES(is_here ? "true" : "false"), &result, error)) {
    if (strcmp(error->sqlstate, "25006") == 0)
      error_hint(error, "name all servers in the conninfo, and add target_session_attrs=read-write");
    return false;
  }
  const char *after = PQgetvalue(result, 0, COLUMN_GOES_ON_AFTER);
  if (PQgetisnull(result, 0, COLUMN_GOES_ON_AFTER))
    ;
  else if (result_bool(result, 0, COLUMN_IS_ALARM))
    log_message(LOG_LEVEL_WARNING,
                "source: the server crashed, was restored or failed over, and may have lost changes that targets have; "
                "change ids continue after %s",
                after);
  else
    log_message(LOG_LEVEL_INFO,
                "source: the server was restarted; change ids continue after %s, in case it forgot some", after);
  PQclear(result);
  return true;
}

bool source_is_elsewhere(const struct error *error) {
  return strcmp(error->sqlstate, "RR002") == 0;
}

bool source_open_for_work(struct source **source, const char *conninfo, bool is_here, struct error *error) {
  *source = NULL;
  struct source *opened = open_with(conninfo, SESSION_WORK, POOLER_OPEN_TIMEOUT, error);
  if (opened == NULL)
    return false;
  pgconn_set_deadline(opened->connection, BEGIN_TIMEOUT);
  if (!source_check_schema(opened, error) || !source_begin(opened, is_here, error)) {
    source_close(opened);
    return false;
  }
  pgconn_set_deadline(opened->connection, 0);
  *source = opened;
  return true;
}

/* Whether what is lacking are privileges in schema rowrelay: granting one of its roles mends that, and nothing else. */
static bool lacks_role(const struct error *error) {
  static const char *const refusals[] = {"permission denied for schema rowrelay", "permission denied for function ",
                                         "permission denied for view ",           "permission denied for table target",
                                         "permission denied for table seal",      NULL};
  if (strcmp(error->sqlstate, "42501") != 0 || error->hint[0] != '\0')
    return false;
  for (const char *const *refusal = refusals; *refusal != NULL; refusal++)
    if (strncmp(error->message, *refusal, strlen(*refusal)) == 0)
      return true;
  return false;
}

/* Names the least role that suffices. Who may not even look into the schema needs one, but which one is not known: the
 * statement is the first of many. */
static bool explain(struct source *source, const char *statement, struct error *error) {
  struct error ignored;
  PGresult *role = NULL;
  if (!lacks_role(error))
    return false;
  if (strcmp(error->message, "permission denied for schema rowrelay") != 0 &&
      pgconn_run(source->connection, &QUERY_least_role, VALUES(statement), &role, &ignored) && PQntuples(role) > 0)
    error_hint(error, "grant this user a role of \"rowrelay init --roles\": %s is the least that may do this",
               result_text(role, 0, LEAST_ROLE_NAME));
  else
    error_hint(error,
               "grant this user a role of \"rowrelay init --roles\": rowrelay_reader to read the log, rowrelay_worker "
               "to deliver, rowrelay_admin for all else");
  PQclear(role);
  return false;
}

bool source_run(struct source *source, const struct query *query, struct values values, PGresult **result,
                struct error *error) {
  return pgconn_run(source->connection, query, values, result, error) || explain(source, query->text, error);
}

bool source_script(struct source *source, const char *text, struct error *error) {
  return pgconn_script(source->connection, text, error) || explain(source, text, error);
}

struct pgconn *source_connection(struct source *source) {
  return source->connection;
}
