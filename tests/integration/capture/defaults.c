/* What a role or a database has as its defaults: an old application's way of writing strings, and limits for people. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "mirrored.h"

/* Sessions that begin from here on have it, at the source and at the target. */
static void set_default(struct fixture *f, const char *name, const char *value) {
  sql(f->at_source, "alter database \"%s\" set %s = '%s'", f->name, name, value);
  sql(f->at_target, "alter database \"%s\" set %s = '%s'", f->name, name, value);
}

#define TABLES                                                                                                         \
  "create table item (id int primary key, note text, data json, bytes bytea);"                                         \
  "create table path (id int primary key, name text)"

Test(defaults, strings_may_have_escapes) {
  struct fixture f;
  mirrored_begin(&f, "defaults_strings", TABLES);
  rowrelay_ok(&f, "uninstall", "--force", NULL);
  set_default(&f, "standard_conforming_strings", "off");
  set_default(&f, "escape_string_warning", "off");
  rowrelay_ok(&f, "init", NULL);
  rowrelay_ok(&f, "target", "add", "w", f.target_url, "--option", "batch_rows=100", NULL);
  rowrelay_ok(&f, "capture", "item", "--before", "--to", "w", "--create", NULL);
  rowrelay_ok(&f, "capture", "path", "--where", "name <> 'C:\\temp'", "--to", "w", "--create", NULL);
  PGconn *application = connect_to(f.source, NULL);
  sql(application, "insert into item values (1, 'it''s a\\\\b \\'quoted\\' \\n', '{\"a\": \"\\\\u0000 \\\\\\\\\"}', "
                   "'\\\\000\\\\\\\\x'), (2, 'plain', 'null', null)");
  sql(application, "insert into path values (1, 'C:\\\\temp'), (2, 'C:\\\\home')");
  sql(application, "update item set note = note || '\\\\' where id = 1; delete from item where id = 2");
  mirrored_same(&f, "item");
  cr_assert_str_eq(ask(f.at_target, "select note from item"), "it's a\\b 'quoted' \n\\");
  cr_assert_str_eq(ask(f.at_target, "select name from path"), "C:\\home");
  rowrelay_ok(&f, "verify", "w", NULL);
  cr_assert_not_null(strstr(rowrelay_ok(&f, "log", "item", "1", NULL), "it's a"));
  cr_assert_not_null(strstr(rowrelay_ok(&f, "status", "--tables", NULL), "path"));
  cr_assert_str_eq(ask(f.at_source, "select string_agg(note, ' ') from rowrelay.captures"), "");

  /* The past is read as it was written, by a command and in a session with the application's settings. */
  rowrelay_ok(&f, "undo", "item", "1",
              ask(f.at_source, "select max(change_id) from rowrelay.history where key = '1' and op = 'update'"),
              "--apply", NULL);
  cr_assert_str_eq(ask(f.at_source, "select note from item"), "it's a\\b 'quoted' \n");
  sql(application, "update item set note = 'new\\\\'");
  sql(application, "select rowrelay.undo('item', '1', (select max(change_id) from rowrelay.history), true)");
  cr_assert_str_eq(ask(f.at_source, "select note from item"), "it's a\\b 'quoted' \n");
  cr_assert_str_eq(ask(application, "select count(*) from rowrelay.search('a\\\\b')"), "5");
  cr_assert_str_eq(ask(application, "select count(*) from rowrelay.search('a%%b')"), "0");
  cr_assert_str_eq(ask(application, "select note from rowrelay.as_of(null::item, now()::timestamptz)"),
                   "it's a\\b 'quoted' \n");

  /* The same from psql, where every function runs in such a session. */
  sql(application, "create table other (id int primary key, name text); create table part (id int, order_id int)");
  sql(application, "select rowrelay.add_target('x', 'file:/dev/null', '{\"lanes\": 4}')");
  sql(application, "select rowrelay.capture_table('other', row_filter => $$ name <> 'C:\\temp' $$)");
  sql(application, "select rowrelay.route('other', 'w', create_table => true)");
  sql(application, "insert into other values (1, 'C:\\\\temp'), (2, 'C:\\\\home')");
  cr_assert_str_eq(captured_changes(&f, "other"), "i:2");
  sql(application, "select * from rowrelay.maintain()");
  rowrelay_ok(&f, "backfill", "item", "other", "--to", "w", NULL);
  mirrored_same(&f, "item");
  cr_assert_str_eq(ask(f.at_target, "select string_agg(name, ' ') from other"), "C:\\home");
  rowrelay_ok(&f, "verify", "w", NULL);
  sql(application, "truncate item");
  mirrored_same(&f, "item");
  PQfinish(application);
  fixture_end(&f);
}

/* Their bodies are read in the session that calls them: so a backslash stands only where both settings read the same.
 */
Test(defaults, no_function_has_a_string_that_depends_on_escapes) {
  struct fixture f;
  mirrored_begin(&f, "defaults_bodies", TABLES);
  mirrored_capture(&f, "item");
  cr_assert_str_eq(
      ask(f.at_source,
          "select string_agg(p.proname, ' ') from pg_proc p"
          " where p.pronamespace = 'rowrelay'::regnamespace"
          "   and regexp_replace(p.prosrc,"
          "         $$--[^\\n]*|\\mE'([^'\\\\]|\\\\.|'')*'(\\s*\\n\\s*'([^'\\\\]|\\\\.|'')*')*$$, '', 'g') ~ '\\\\'"),
      "");
  fixture_end(&f);
}

Test(defaults, limits_of_a_role_are_not_for_commands) {
  struct fixture f;
  mirrored_begin(&f, "defaults_limits", TABLES);
  rowrelay_ok(&f, "uninstall", "--force", NULL);
  set_default(&f, "statement_timeout", "300ms");
  set_default(&f, "lock_timeout", "50ms");
  set_default(&f, "idle_in_transaction_session_timeout", "300ms");
  set_default(&f, "default_transaction_read_only", "on");
  set_default(&f, "default_transaction_isolation", "serializable");
  rowrelay_ok(&f, "init", NULL);
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  PGconn *writer = connect_to(f.source, NULL);
  sql(writer, "set default_transaction_read_only = off; set idle_in_transaction_session_timeout = 0");
  sql(writer, "begin; insert into item values (1)");
  pid_t capture = fixture_start(&f, "capture", "item", "--to", "w", "--create", NULL);
  sleep_seconds(2);
  sql(writer, "commit");
  cr_assert_eq(wait_process(capture, 20), 0);
  sql(writer, "insert into item values (2)");
  rowrelay_ok(&f, "backfill", "item", "--to", "w", NULL);
  mirrored_same(&f, "item");
  rowrelay_ok(&f, "verify", "w", NULL);
  rowrelay_ok(&f, "keep", "1 year", NULL);
  rowrelay_ok(&f, "prune", NULL);
  rowrelay_ok(&f, "release", "item", NULL);
  PQfinish(writer);
  fixture_end(&f);
}
