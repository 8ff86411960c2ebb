#include "mirrored.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>

/* Seconds. */
#define PATIENCE 120

void mirrored_begin(struct fixture *fixture, const char *name, const char *script) {
  fixture_begin(fixture, name);
  sql(fixture->at_source, "%s", script);
  rowrelay_ok(fixture, "target", "add", "w", fixture->target_url, NULL);
}

void mirrored_capture(struct fixture *fixture, const char *pattern) {
  rowrelay_ok(fixture, "capture", pattern, "--to", "w", "--create", NULL);
}

void mirrored_deliver(struct fixture *fixture) {
  pid_t process = fixture_run(fixture, "--until-empty", NULL);
  int status = wait_process(process, PATIENCE);
  if (status == -1)
    stop_process(process, SIGKILL);
  cr_assert(status == 0, "exit status %d; %s", status,
            ask(fixture->at_source, "select string_agg(note, ' ') from rowrelay.status"));
  const char *refused =
      ask(fixture->at_source, "select string_agg(format('%%s %%s of %%s: %%s %%s', op, key, relation, "
                              "message, detail), E'\\n') from rowrelay.errors");
  cr_assert(refused[0] == '\0', "%s", refused);
}

void mirrored_same(struct fixture *fixture, const char *table) {
  mirrored_deliver(fixture);
  same_rows(fixture, table, table, "1");
}

void mirrored_maintain(struct fixture *fixture) {
  sql(fixture->at_source, "delete from rowrelay.job; select * from rowrelay.maintain()");
}

const char *captured_changes(struct fixture *fixture, const char *table) {
  return ask(
      fixture->at_source,
      "select string_agg(left(op, 1) || ':' || coalesce(key, '-'), ' ' order by change_id) from rowrelay.history "
      "where relation = '%s'::regclass",
      table);
}

void role_begin(const char *role) {
  PGconn *server = connect_to(getenv("ROWRELAY_TEST_SOURCE"), NULL);
  sql(server, "drop role if exists %s; create role %s login", role, role);
  PQfinish(server);
}

void role_end(const char *role) {
  PGconn *server = connect_to(getenv("ROWRELAY_TEST_SOURCE"), NULL);
  sql(server, "drop role %s", role);
  PQfinish(server);
}
