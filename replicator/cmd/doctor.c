/* rowrelay doctor: says what is in the way of capturing and delivering, before and after installation. */
#include <string.h>

#include "cli/call.h"
#include "cli/command.h"
#include "common/interrupt.h"
#include "common/text.h"
#include "doctor/finding.h"
#include "doctor/measure.h"
#include "doctor/reach.h"
#include "doctor/table_names.h"
#include "doctor/time_gap.h"
#include "postgres/number.h"
#include "postgres/result.h"
#include "queries.h"
#include "schema_files.h"

#define LONGEST_LIST ((size_t)16 * 1024 * 1024) /* bytes */

/* `old`: when a transaction counts as old; seconds. */
static void check_server(struct findings *findings, struct source *source, int64_t old) {
  struct error error;
  int64_t gap = 0;
  error_clear(&error);
  if (!time_gap(source_connection(source), &gap, &error))
    finding_add_error(findings, "clock", &error);
  const struct number microseconds = number(gap);
  const struct number seconds = number(old);
  finding_ask(findings, source_connection(source), &QUERY_doctor_server, VALUES(microseconds.text, seconds.text),
              "server");
  finding_ask(findings, source_connection(source), &QUERY_doctor_dump, NO_VALUES, "pg_dump");
  error_clear(&error);
  if (!source_script(source, QUERY_check_published.text, &error))
    finding_add_error(findings, "publication", &error);
}

/* Whether schema rowrelay is there, and this program's. */
static bool check_version(struct findings *findings, struct source *source) {
  char meaning[200];
  struct error error;
  int version = 0;
  struct finding finding = {.level = "ok", .what = "schema rowrelay", .meaning = meaning};
  error_clear(&error);
  if (!source_schema_version(source, &version, &error) || version > SCHEMA_NEWEST ||
      version == SCHEMA_WITHOUT_CONTENTS) {
    if (error.kind == FAILURE_NONE && source_check_schema(source, &error))
      return true;
    finding_add_error(findings, finding.what, &error);
    return false;
  }
  if (version == 0)
    text_print(meaning, sizeof meaning, "not installed here yet");
  else
    text_print(meaning, sizeof meaning, "version %d; this program has %d", version, SCHEMA_NEWEST);
  if (version < SCHEMA_NEWEST)
    finding.command = "rowrelay init";
  if (version != 0 && version < SCHEMA_NEWEST)
    finding.level = "fail";
  finding_add(findings, &finding);
  return version == SCHEMA_NEWEST;
}

/* What is looked at. */
struct scope {
  const char *oids; /* of tables */
  bool named;       /* somebody named them */
  int64_t old;      /* when a transaction is; seconds */
};

static void check_all(struct findings *findings, struct source *source, const struct scope *scope) {
  struct pgconn *connection = source_connection(source);
  const char *named = scope->named ? "true" : "false";
  const struct number old = number(scope->old);
  const struct finding session = {
      .level = "ok", .what = "session", .meaning = "each connection has one of its own: no transaction pooler between"};
  finding_add(findings, &session);
  check_server(findings, source, scope->old);
  bool installed = check_version(findings, source);
  finding_ask(findings, connection, &QUERY_doctor_tables, VALUES(scope->oids, named, old.text), "tables");
  finding_ask(findings, connection, &QUERY_doctor_growth, VALUES(scope->oids), "growth");
  if (installed) {
    finding_ask(findings, connection, &QUERY_doctor_rights, NO_VALUES, "access");
    finding_ask(findings, connection, &QUERY_doctor_hidden, VALUES(scope->oids, named), "rights to read");
    finding_ask(findings, connection, &QUERY_doctor_installed, VALUES(scope->oids, named), "installation");
    reach_all(findings, source);
  }
}

static bool end(const struct findings *findings, struct error *error) {
  finding_end(findings);
  return findings->failed == 0 || error_set(error, FAILURE_FATAL, "%d check%s failed: see above", findings->failed,
                                            text_plural(findings->failed));
}

static bool examine(const struct options *given, struct source *source, struct error *error) {
  struct findings findings = {.json = option_given(given, "json")};
  struct scope scope = {.named = given->argument_count > 0};
  struct buffer oids;
  buffer_init(&oids, LONGEST_LIST);
  bool ok = option_integer(given, "old", (struct bounds){0, 86400}, &scope.old, error) &&
            table_names_find(source, given->arguments, given->argument_count, &oids, error);
  scope.oids = oids.data;
  if (ok)
    check_all(&findings, source, &scope);
  buffer_release(&oids);
  return ok && end(&findings, error);
}

/* "{1234}" is the only one. */
static bool the_only_table(struct buffer *oids, const char **oid, struct error *error) {
  size_t length = strlen(oids->data);
  if (strchr(oids->data, ',') != NULL || length < 3)
    return error_set(error, FAILURE_USAGE, "--measure wants one table");
  oids->data[length - 1] = '\0';
  *oid = oids->data + 1;
  if (**oid == '"') {
    oids->data[length - 2] = '\0';
    ++*oid;
  }
  return true;
}

static bool measure_table(const struct options *given, struct source *source, struct error *error) {
  const char *pattern = option_text(given, "measure");
  struct measure_order order = {.json = option_given(given, "json")};
  struct buffer oids;
  int version = 0;
  buffer_init(&oids, LONGEST_LIST);
  bool ok = source_schema_version(source, &version, error) && table_names_find(source, &pattern, 1, &oids, error) &&
            the_only_table(&oids, &order.relation, error);
  order.installed = version == SCHEMA_NEWEST;
  ok = ok && measure(source, &order, error);
  buffer_release(&oids);
  return ok;
}

/* A conninfo that cannot be read is wrong use; whatever else is in the way is what was asked for. */
static bool tell_connection(const struct options *given, struct error *error) {
  struct findings findings = {.json = option_given(given, "json")};
  bool is_pooler = error->kind == FAILURE_USAGE && error->detail[0] != '\0';
  if ((error->kind == FAILURE_USAGE && !is_pooler) || error->kind == FAILURE_STOP)
    return false;
  finding_add_error(&findings, is_pooler ? "session" : "connection", error);
  return end(&findings, error);
}

static bool run(const struct options *given, struct error *error) {
  struct source *source;
  bool measures = option_given(given, "measure");
  if (measures && given->argument_count > 0)
    return error_set(error, FAILURE_USAGE, "--measure cannot be combined with tables to be looked at");
  interrupt_on_signals();
  if (!source_open(&source, option_text(given, "dbname"), error))
    return !measures && tell_connection(given, error);
  bool ok = measures ? measure_table(given, source, error) : examine(given, source, error);
  source_close(source);
  return ok;
}

static const struct option OPTIONS[] = {
    {.name = "measure",
     .value = "TABLE",
     .help = "measure what capturing costs writers, on a scratch copy that is rolled back, and nothing else"},
    {.name = "old", .value = "SECONDS", .initial = "600", .help = "from when on an open transaction is named"},
    {.name = "json", .help = "print JSON for programs"},
    OPTION_END,
};

const struct command COMMAND_doctor = {
    .name = "doctor",
    .summary = "find what is in the way of capturing and delivering",
    .arguments = "[TABLE...]",
    .most = ANY_NUMBER,
    .options = OPTIONS,
    .notes =
        "TABLE may be a pattern such as 'shop.*'; without one, all tables are looked at. It needs no schema rowrelay,\n"
        "and changes nothing here or at a target. Each line begins with ok, with warn (it works, but read this) or "
        "with\n"
        "fail (mend this first; the exit status is 1).\n",
    .examples = "rowrelay doctor 'shop.*'\n"
                "rowrelay doctor --measure shop.orders\n",
    .run = run,
};
