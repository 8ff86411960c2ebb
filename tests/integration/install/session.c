/* Whatever a database's defaults are, each of our sessions there has the settings that its work needs. */
#include <criterion/criterion.h>
#include <string.h>

#include "fixture.h"
#include "postgres/session.h"

static struct fixture f;

static const struct {
  enum session_purpose purpose;
  const char *setting;
  const char *value;
} EXPECTED[] = {
    {SESSION_WORK, "search_path", "pg_catalog, pg_temp"},
    {SESSION_WORK, "DateStyle", "ISO, MDY"},
    {SESSION_WORK, "bytea_output", "hex"},
    {SESSION_WORK, "array_nulls", "on"},
    {SESSION_WORK, "enable_seqscan", "off"},
    {SESSION_WORK, "synchronous_commit", "off"},
    {SESSION_WORK, "lock_timeout", "30s"},
    {SESSION_WORK, "statement_timeout", "0"},
    {SESSION_WORK, "default_transaction_read_only", "off"},
    {SESSION_WORK, "rowrelay.shell", "on"},
    /* as people write and read it */
    {SESSION_COMMAND, "DateStyle", "SQL, DMY"},
    {SESSION_COMMAND, "search_path", "pg_catalog, \"public\", pg_temp"},
    {SESSION_COMMAND, "rowrelay.search_path", "public"},
    {SESSION_COMMAND, "lock_timeout", "0"},
    {SESSION_COMMAND, "standard_conforming_strings", "on"},
    {SESSION_COMMAND, "default_transaction_read_only", "off"},
    {SESSION_COMMAND, "rowrelay.shell", "on"},
    {SESSION_COPY, "lock_timeout", "100ms"},
    {SESSION_COPY, "row_security", "off"},
    {SESSION_COPY, "search_path", "pg_catalog, pg_temp"},
    {SESSION_COPY, "quote_all_identifiers", "off"},
    {SESSION_VERIFY, "default_transaction_read_only", "on"},
    {SESSION_VERIFY, "max_parallel_workers_per_gather", "0"},
    {SESSION_VERIFY, "lock_timeout", "30s"},
    {SESSION_TARGET, "search_path", "public"},
    {SESSION_TARGET, "quote_all_identifiers", "off"},
    {SESSION_TARGET, "DateStyle", "ISO, MDY"},
    {SESSION_TARGET, "array_nulls", "on"},
    {SESSION_TARGET, "enable_seqscan", "on"},
    {SESSION_TARGET, "synchronous_commit", "on"},
    {SESSION_TARGET, "default_transaction_read_only", "off"},
    {SESSION_TARGET, "row_security", "off"},
};

static void has_setting(size_t i) {
  struct pgconn *connection;
  struct error error;
  PGresult *reply = NULL;
  const struct query ask = {.text = "select pg_catalog.current_setting($1)"};
  cr_assert(pooler_open(&connection, f.source, EXPECTED[i].purpose, POOLER_OPEN_TIMEOUT, &error), "%s", error.message);
  cr_assert(pgconn_run(connection, &ask, VALUES(EXPECTED[i].setting), &reply, &error), "%s", error.message);
  cr_expect_str_eq(PQgetvalue(reply, 0, 0), EXPECTED[i].value, "%s of session %d", EXPECTED[i].setting,
                   (int)EXPECTED[i].purpose);
  PQclear(reply);
  pgconn_close(connection);
}

Test(session, has_the_settings_of_its_purpose_whatever_the_databases_are) {
  static const char *const DEFAULTS[] = {"datestyle = 'SQL, DMY'",     "search_path = public",
                                         "lock_timeout = '7s'",        "statement_timeout = '7s'",
                                         "bytea_output = escape",      "array_nulls = off",
                                         "quote_all_identifiers = on", "row_security = on",
                                         "synchronous_commit = on",    "max_parallel_workers_per_gather = 3",
                                         "enable_seqscan = on",        "standard_conforming_strings = off"};
  fixture_begin(&f, "session_settings");
  for (size_t i = 0; i < sizeof DEFAULTS / sizeof DEFAULTS[0]; i++)
    sql(f.at_source, "alter database %s set %s", PQdb(f.at_source), DEFAULTS[i]);
  sql(f.at_source, "alter database %s set default_transaction_read_only = on", PQdb(f.at_source));
  for (size_t i = 0; i < sizeof EXPECTED / sizeof EXPECTED[0]; i++)
    has_setting(i);
  fixture_end(&f);
}
