/* rowrelay init: installs or upgrades schema rowrelay, with the files that schema/install.sql names for psql. */
#include <stdio.h>

#include "cli/call.h"
#include "cli/command.h"
#include "common/interrupt.h"
#include "postgres/pgconn.h"
#include "queries.h"
#include "schema_files.h"

/* Read committed, so that one that waited for the lock sees what the other has installed. Names and operators
 * are PostgreSQL's own, whatever extensions have made in schema public. */
static const char BEGIN[] = "begin isolation level read committed; set local client_min_messages = warning;"
                            "set local search_path = pg_catalog, pg_temp";

static bool run_files(struct source *source, int version, struct error *error) {
  for (size_t i = 0; i < SCHEMA_FILE_COUNT; i++) {
    const struct schema_file *file = &SCHEMA_FILES[i];
    if (file->migration != 0 && file->migration <= version)
      continue;
    if (!source_script(source, file->text, error)) {
      if (error->detail[0] == '\0')
        error_detail(error, "in schema/%s", file->path);
      return false;
    }
  }
  return true;
}

/* Processes of an older version can no longer claim changes; this says so more clearly than their errors do. */
static bool name_processes(struct source *source, struct error *error) {
  PGresult *reply = NULL;
  if (!source_run(source, &QUERY_init_processes, NO_VALUES, &reply, error))
    return false;
  if (!PQgetisnull(reply, 0, 0))
    printf("restart these processes with this version of rowrelay: %s\n", PQgetvalue(reply, 0, 0));
  PQclear(reply);
  return true;
}

/* Who else has rights here. */
static bool name_roles(struct source *source, struct error *error) {
  PGresult *reply = NULL;
  if (!source_run(source, &QUERY_doctor_rights, NO_VALUES, &reply, error))
    return false;
  for (int row = 0; row < PQntuples(reply); row++)
    printf("rights in schema rowrelay: %s\n", PQgetvalue(reply, row, FINDING_MEANING));
  PQclear(reply);
  return true;
}

/* Whose dumps fail from now on. */
static bool name_dumpers(struct source *source, struct error *error) {
  PGresult *reply = NULL;
  if (!source_run(source, &QUERY_doctor_dump, NO_VALUES, &reply, error))
    return false;
  for (int row = 0; row < PQntuples(reply); row++)
    printf("pg_dump %s -- run: %s\n", PQgetvalue(reply, row, FINDING_MEANING), PQgetvalue(reply, row, FINDING_COMMAND));
  PQclear(reply);
  return true;
}

/* With option roles it also creates the roles, to which the schema's files then grant rights. */
static bool install(struct source *source, const struct options *given, struct error *error) {
  int version;
  bool publishes = option_given(given, "publish-anyway");
  call_tell_warnings(source);
  if (!source_script(source, BEGIN, error) ||
      (publishes && !source_script(source, "set local rowrelay.publish_anyway = on", error)) ||
      !source_script(source, QUERY_install_lock.text, error) || !source_script(source, QUERY_check_owner.text, error) ||
      !source_schema_version(source, &version, error))
    return false;
  if (version > SCHEMA_NEWEST || version == SCHEMA_WITHOUT_CONTENTS)
    return source_check_schema(source, error);
  if (option_given(given, "roles") && !source_script(source, QUERY_roles.text, error))
    return false;
  if (!run_files(source, version, error) || !source_script(source, "commit", error))
    return false;
  if (version == SCHEMA_NEWEST)
    printf("schema rowrelay: version %d, already up to date\n", version);
  else if (version == 0)
    printf("schema rowrelay: version %d, installed\n"
           "Captured changes stay in the log for ever; to bound it, run for example: rowrelay keep '90 days'\n",
           SCHEMA_NEWEST);
  else
    printf("schema rowrelay: version %d, upgraded from %d\n", SCHEMA_NEWEST, version);
  if (!name_roles(source, error))
    return false;
  if (version == 0)
    return name_dumpers(source, error);
  return version == SCHEMA_NEWEST || name_processes(source, error);
}

static bool run(const struct options *given, struct error *error) {
  struct source *source;
  interrupt_on_signals();
  if (!source_open(&source, option_text(given, "dbname"), error))
    return false;
  bool ok = install(source, given, error);
  source_close(source);
  return ok;
}

static const struct option OPTIONS[] = {
    {.name = "roles",
     .help = "also create the roles rowrelay_admin, rowrelay_worker and rowrelay_reader, to be granted to users"},
    {.name = "publish-anyway",
     .help = "install in a database whose tables are all published: no subscriber minds new ones"},
    OPTION_END,
};

const struct command COMMAND_init = {
    .name = "init",
    .summary = "install or upgrade schema rowrelay",
    .arguments = "",
    .options = OPTIONS,
    .notes = "No table is changed. The command can be run again; \"rowrelay uninstall\" removes everything.\n",
    .examples = "rowrelay init\n"
                "rowrelay -d 'host=db1 dbname=shop sslmode=verify-full' init --roles\n",
    .run = run,
};
