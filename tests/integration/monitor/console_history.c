/* What the console finds in the history, and how it shows values. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "browser.h"
#include "console.h"
#include "fixture.h"
#include "visitor.h"

static struct fixture f;
static pid_t process;
static int port;

static void begin(const char *name, bool with_token) {
  process = console_begin(&f, name, with_token, &port);
}

static void end(void) {
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

/* As numbers a browser would round them. */
Test(console, values_are_shown_as_they_are) {
  begin("console_values", false);
  sql(f.at_source, "create table big (id bigint primary key, v numeric, more json, t text);"
                   "select rowrelay.capture_table('big', before => 'full')");
  sql(f.at_source, "insert into big values (9007199254740993, 900.50, "
                   "'{\"b\":1.00,\"a\":12345678901234567890,\"b\":null}', '1.00')");
  sql(f.at_source, "update big set v = 900.500");
  cr_assert_not_null(
      strstr(visit(port, "GET", "/api/history?table=big", NULL, NULL).body,
             "[[\"id\", \"9007199254740993\"], [\"v\", \"900.50\"], [\"more\", "
             "\"{\\\"b\\\":1.00,\\\"a\\\":12345678901234567890,\\\"b\\\":null}\"], [\"t\", \"\\\"1.00\\\"\"]]"),
      "%s", visit(port, "GET", "/api/history?table=big", NULL, NULL).body);
  cr_assert_not_null(strstr(visit(port, "GET", "/api/history?table=big&key=9007199254740993", NULL, NULL).body,
                            "\"changed\":[[\"v\", \"900.50\", \"900.500\"]]"));
  browser_begin(port);
  browser_do("go #/history");
  browser_do("see 9007199254740993");
  browser_do("see 900.500");
  browser_do("see {\"b\":1.00,\"a\":12345678901234567890,\"b\":null}");
  cr_assert_str_eq(browser_ask("messages"), "ok");
  browser_end();
  end();
}

/* Else the nulls would be taken for what the row had. */
Test(console, what_was_redacted_is_said_to_be_so) {
  begin("console_redacted", false);
  sql(f.at_source, "insert into item values (1, 'secret')");
  wait_until_empty(&f, 10);
  rowrelay_ok(&f, "redact", "item", "1", "name", NULL);
  char by_transaction[64];
  snprintf(by_transaction, sizeof by_transaction, "/api/history?transaction=%s",
           ask(f.at_source, "select max(txid::text::bigint) from rowrelay.change"));
  const char *const paths[] = {"/api/history", "/api/history?table=item&key=1", by_transaction};
  for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
    const char *body = visit(port, "GET", paths[i], NULL, NULL).body;
    cr_expect_not_null(strstr(body, "\"redacted\":[\"name\"]"), "%s: %s", paths[i], body);
  }
  browser_begin(port);
  browser_do("go #/history");
  browser_do("see Redacted: name (removed from the log and shown as null)");
  browser_end();
  end();
}

/* Such as that a document is to be read again: keys rather than a row. */
Test(console, history_shows_what_people_do_and_not_what_rowrelay_asks_of_itself) {
  begin("console_own", false);
  sql(f.at_source, "insert into item values (1, 'one')");
  wait_until_empty(&f, 10);
  sql(f.at_source,
      "select rowrelay.add_document('card', 'w', key => 'id', query => 'select id, name from item where id = any ($1)',"
      " sources => '{item:id}', create_table => true); select rowrelay.rebuild('card', '{1}')");
  wait_until(f.at_source, "t", 20, "select exists (select from rowrelay.history where op = 'refresh')");
  wait_until_empty(&f, 10);
  cr_assert_str_eq(ask(f.at_source, "select op from rowrelay.history order by change_id desc limit 1"), "refresh");
  char of_transaction[64];
  snprintf(of_transaction, sizeof of_transaction, "/api/history?transaction=%s",
           ask(f.at_source, "select txid from rowrelay.history where op = 'refresh' limit 1"));
  const char *const paths[] = {"/api/history", "/api/history?op=refresh", of_transaction};
  for (size_t i = 0; i < 3; i++)
    cr_expect_eq(visit(port, "GET", paths[i], NULL, NULL).status, 200, "%s", paths[i]);
  const char *body = visit(port, "GET", paths[0], NULL, NULL).body;
  cr_expect_not_null(strstr(body, "\"insert\""), "%s", body);
  cr_expect_null(strstr(body, "\"refresh\""), "%s", body);
  end();
}

static struct visit history(const char *parameters) {
  char path[256];
  snprintf(path, sizeof path, "/api/history?%s", parameters);
  struct visit visited = visit(port, "GET", path, NULL, NULL);
  cr_assert_eq(visited.status, 200, "%s: %s", parameters, visited.body);
  return visited;
}

Test(console, history_is_found_by_who_when_what_and_transaction) {
  begin("console_history", false);
  sql(f.at_source, "set rowrelay.actor = 'anna'; insert into item values (1, 'a'); reset rowrelay.actor");
  sql(f.at_source, "begin; insert into item values (2, 'b'); update item set name = 'c' where id = 2; commit");
  char path[128];
  snprintf(path, sizeof path, "transaction=%s", ask(f.at_source, "select txid from rowrelay.change where id = 2"));
  cr_assert(console_has_before(history(path).body, "\"change\":\"3\"", "\"change\":\"2\""));
  cr_assert_null(strstr(history(path).body, "\"change\":\"1\""));
  static const struct {
    const char *parameters;
    const char *found; /* of changes 1, 2 and 3 */
  } CASES[] = {{"actor=anna", "1"},
               {"op=update", "3"},
               {"op=insert&table=item", "12"},
               {"table=item&key=2&op=insert", "2"},
               {"since=2020-01-01T00:00:00Z", "123"},
               {"until=2020-01-01T00:00:00Z", ""},
               {"table=item&key=2&until=2020-01-01T00:00:00Z", ""}};
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
    for (char change = '1'; change <= '3'; change++) {
      char shown[32];
      snprintf(shown, sizeof shown, "\"change\":\"%c\"", change);
      cr_expect_eq(strstr(history(CASES[i].parameters).body, shown) != NULL, strchr(CASES[i].found, change) != NULL,
                   "%s: %c", CASES[i].parameters, change);
    }
  /* another spelling of the key is the same row */
  sql(f.at_source, "create table number (k float8 primary key); select rowrelay.capture_table('number');"
                   "insert into number values ('0'); delete from number; insert into number values ('-0')");
  for (int i = 0; i < 2; i++)
    cr_expect(console_has_before(history(i == 0 ? "table=number&key=0" : "table=number&key=-0").body, "\"key\":\"-0\"",
                                 "\"key\":\"0\""));
  cr_assert_eq(visit(port, "GET", "/api/history?transaction=1&table=item", NULL, NULL).status, 400);
  cr_assert_eq(visit(port, "GET", "/api/history?since=soon", NULL, NULL).status, 400);
  browser_begin(port);
  browser_do("go #/history?actor=anna");
  browser_do("see insert item 1");
  browser_do("gone item 2");
  browser_do("choose Operation=update");
  browser_do("fill By=");
  browser_do("key Enter");
  browser_do("see update item 2");
  cr_assert_str_eq(browser_ask("at"), "#/history?op=update");
  browser_end();
  end();
}

Test(console, a_long_search_keeps_nobody_waiting) {
  begin("console_search", false);
  sql(f.at_source, "insert into item values (1, 'a')");
  wait_until_empty(&f, 10);
  PGconn *holder = connect_to(f.source, NULL);
  sql(holder, "begin; lock table rowrelay.tick");
  pid_t searcher = fork();
  if (searcher == 0)
    _exit(visit(port, "GET", "/api/history?since=2020-01-01", NULL, NULL).status == 200 ? 0 : 1);
  wait_until(f.at_source, "t", 5,
             "select count(*) > 0 from pg_stat_activity where query like '%%search_range%%' "
             "and wait_event_type = 'Lock' and pid <> pg_backend_pid()");
  cr_assert_eq(visit(port, "GET", "/api/overview", NULL, NULL).status, 200);
  cr_assert_eq(waitpid(searcher, NULL, WNOHANG), 0, "it waited until the search had ended");
  sql(holder, "rollback");
  PQfinish(holder);
  int status = -1;
  cr_assert_eq(waitpid(searcher, &status, 0), searcher);
  cr_assert_eq(status, 0);
  end();
}

Test(console, a_row_is_shown_as_it_was_and_what_undoes_a_change_as_sql) {
  begin("console_undo", false);
  sql(f.at_source, "insert into item values (1, 'first')");
  const char *then =
      ask(f.at_source, "select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')");
  sql(f.at_source, "update item set name = 'second' where id = 1; insert into item values (2, 'other')");
  browser_begin(port);
  browser_do("go #/history?table=item&key=1");
  browser_do("see Before");
  browser_do("see second");
  browser_do("click Undo change 2, as SQL");
  browser_do("see update public.item as t set name = 'first'");
  cr_assert_str_eq(browser_ask("accessible"), "ok");
  cr_assert_str_eq(ask(f.at_source, "select name from item where id = 1"), "second");
  cr_assert_str_eq(browser_ask("messages"), "ok");
  /* Only the last change of a row can be undone. */
  browser_do("click Undo change 1, as SQL");
  browser_do("see was changed again");
  browser_do("go #/history?transaction=%s", ask(f.at_source, "select txid from rowrelay.change where id = 3"));
  browser_do("click Undo transaction %s, as SQL", ask(f.at_source, "select txid from rowrelay.change where id = 3"));
  browser_do("see delete from public.item as t where t.id = '2'");
  browser_do("see commit;");
  browser_do("go #/history?table=item&key=1&at=%s", then);
  browser_do("see Row 1 of item as it was at");
  browser_do("see first");
  browser_do("gone second");
  browser_do("go #/history?table=item&key=2&at=%s", then);
  browser_do("see There was no such row");
  browser_do("go #/history?at=%s", then);
  browser_do("see Name the table");
  browser_end();
  cr_assert_eq(visit(port, "GET", "/api/undo?table=item", NULL, NULL).status, 400);
  cr_assert_eq(visit(port, "GET", "/api/undo?transaction=x", NULL, NULL).status, 400);
  cr_assert_eq(visit(port, "GET", "/api/past?table=item&at=soon", NULL, NULL).status, 400);
  cr_assert_eq(visit(port, "GET", "/api/past?table=nothing&at=2020-01-01", NULL, NULL).status, 400);
  end();
}
