/* The log can be searched, and indexed for it without writers noticing. */
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

#include "fixture.h"
#include "past.h"

#define PEOPLE                                                                                                         \
  "create table person (id int primary key, email text, extra json); create table other (id int primary key, v text);" \
  "select rowrelay.capture_table('person', before => 'full'), rowrelay.capture_table('other')"

static void begin(struct fixture *f, const char *name) {
  fixture_begin(f, name);
  sql(f->at_source, PEOPLE);
}

/* "update:7 insert:7": what a search finds. */
static const char *found(struct fixture *f, const char *arguments) {
  return ask(f->at_source, "select string_agg(op || ':' || key, ' ') from rowrelay.search(%s)", arguments);
}

/* Does what processes do, until nothing is left. */
static void index_days(struct fixture *f) {
  while (ask_number(f->at_source, "select count(*) from rowrelay.index_closed_days()") > 0)
    ;
}

/* How an owner's plain question is answered. */
static const char *plan(struct fixture *f, const char *condition) {
  return ask(
      f->at_source,
      "create or replace function plan(text) returns setof text language plpgsql as $$ begin return query execute "
      "'explain (costs off) ' || $1; end $$;"
      "select string_agg(l, E'\\n') from plan(%s) l",
      condition);
}

Test(search_log, finds_a_text_in_values_before_and_after_whatever_its_case) {
  struct fixture f;
  begin(&f, "search_log_values");
  sql(f.at_source, "insert into person select n, 'user' || n || '@x.org', null from generate_series(1, 20) n");
  sql(f.at_source, "update person set email = E'ÄNNA \"q\" 50%%_\\\\\\n' where id = 7");
  sql(f.at_source,
      "update person set email = null, extra = '{\"who\": [\"Bert \\\"B\\\"\"]}' where id = 7; delete from person "
      "where id = 8; insert into other values (7, 'user7@x.org')");
  cr_assert_str_eq(found(&f, "'USER7@'"), "insert:7 update:7 insert:7");
  cr_assert_str_eq(found(&f, "'user7@', 'person'"), "update:7 insert:7");
  cr_assert_str_eq(found(&f, "'änna'"), "update:7 update:7");
  cr_assert_str_eq(found(&f, "'\"q\" 50%_\\'"), "update:7 update:7");
  cr_assert_str_eq(found(&f, "E'_\\\\\\n'"), "update:7 update:7");
  cr_assert_str_eq(found(&f, "'\"b\"'"), "update:7");
  cr_assert_str_eq(found(&f, "'user8@'"), "delete:8 insert:8");
  cr_assert_str_eq(found(&f, "'50_'"), "");
  cr_assert_str_eq(found(&f, "'email'"), "", "names of columns are no values");
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.search('')"), "22023");
  fixture_end(&f);
}

Test(search_log, finds_what_was_captured_in_a_time) {
  struct fixture f;
  begin(&f, "search_log_times");
  sql(f.at_source, "insert into person values (1, 'same')");
  past_move(f.at_source, 30);
  sql(f.at_source, "insert into person values (2, 'same')");
  past_move(f.at_source, 10);
  past_close(f.at_source);
  sql(f.at_source, "select rowrelay.tick(at_once => true)");
  sql(f.at_source, "insert into person values (3, 'same')");
  sql(f.at_source, "select rowrelay.tick(at_once => true)");
  cr_assert_str_eq(found(&f, "'same'"), "insert:3 insert:2 insert:1");
  cr_assert_str_eq(found(&f, "'same', null, now() - interval '20 days'"), "insert:3 insert:2");
  cr_assert_str_eq(found(&f, "'same', null, now() - interval '1 h'"), "insert:3");
  cr_assert_str_eq(found(&f, "'same', null, null, now() - interval '1 day'"), "insert:2 insert:1");
  cr_assert_str_eq(found(&f, "'same', 'person', now() - interval '40 days', now() - interval '20 days'"), "insert:1");
  fixture_end(&f);
}

Test(search_log, indexes_closed_days_and_only_those) {
  struct fixture f;
  begin(&f, "search_log_index");
  const char *log =
      ask_number(f.at_source, "select count(*) from pg_class where oid = to_regclass('rowrelay.every_change')") > 0
          ? "rowrelay.every_change"
          : "rowrelay.history";
  char query[256];
  snprintf(query, sizeof query, "'select change_id, key from %s where new_row ->> ''email'' = ''user77@x.org'''", log);
  sql(f.at_source, "insert into person select n, 'user' || n || '@x.org', null from generate_series(1, 3000) n");
  const char *day = past_move(f.at_source, 20);
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.index_history('email')") == 2);
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.index_history('now()')"), "22023");
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.index_history('no such(')"), "22023");
  /* somebody may still write into it */
  index_days(&f);
  cr_assert(ask_number(f.at_source, "select sum(days) from rowrelay.history_indexes") == 0);
  past_close(f.at_source);
  index_days(&f);
  cr_assert_str_eq(
      ask(f.at_source, "select string_agg(concat(days, days_to_do, problem), ' ') from rowrelay.history_indexes"),
      "10 10");
  sql(f.at_source, "insert into person values (5001, 'user77@x.org')");
  const char *shown = plan(&f, query);
  cr_assert_not_null(strstr(shown, "on history_1_"), "%s", shown);
  cr_assert(ask_number(f.at_source, "select count(*) from %s where new_row ->> 'email' = 'user77@x.org'", log) == 2);
  cr_assert(ask_number(f.at_source,
                       "select count(*) from pg_index i join pg_class c on c.oid = i.indexrelid "
                       "where c.relname ~ '^history_[0-9]+_' and i.indrelid <> "
                       "('rowrelay.change_' || to_char('%s'::date, 'YYYYMMDD'))::regclass",
                       day) == 0);
  /* the log is kept in order as before */
  sql(f.at_source, "select rowrelay.unindex_history('email')");
  cr_assert_str_eq(sql_fails(f.at_source, "select rowrelay.unindex_history('email')"), "42704");
  index_days(&f);
  cr_assert(ask_number(f.at_source, "select count(*) from pg_class where relname ~ '^history_[0-9]+_'") == 0);
  fixture_end(&f);
}

Test(search_log, says_why_a_day_cannot_be_indexed_and_waits_for_nobody) {
  struct fixture f;
  begin(&f, "search_log_refused");
  sql(f.at_source, "insert into person values (1, 'x'); insert into person select 2, string_agg(md5(n::text), '') from "
                   "generate_series(1, 1000) n");
  past_move(f.at_source, 20);
  past_close(f.at_source);
  sql(f.at_source, "select rowrelay.index_history('email')");
  /* a day that is just being dumped or pruned */
  PGconn *other = connect_to(f.source, NULL);
  sql(other, "begin; lock table rowrelay.change in row exclusive mode");
  double began = seconds_now();
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.index_closed_days()") == 0);
  cr_assert(seconds_now() - began < 10);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(problem, '') from rowrelay.history_indexes"), "");
  sql(other, "rollback");
  PQfinish(other);
  index_days(&f);
  cr_assert(ask_number(f.at_source,
                       "select count(*) from rowrelay.history_indexes where problem like 'day 20%%: index row %%'") ==
            1);
  cr_assert(ask_number(f.at_source, "select sum(days_to_do) from rowrelay.history_indexes") == 0);
  /* another way */
  sql(f.at_source, "select rowrelay.unindex_history('email'); select rowrelay.index_history('email', 'hash')");
  index_days(&f);
  cr_assert(ask_number(f.at_source, "select sum(days) from rowrelay.history_indexes where problem is null") == 2);
  fixture_end(&f);
}

Test(search_log, is_indexed_by_running_processes) {
  struct fixture f;
  begin(&f, "search_log_run");
  sql(f.at_source, "insert into person values (1, 'x')");
  past_move(f.at_source, 20);
  past_close(f.at_source);
  sql(f.at_source, "select rowrelay.index_history('email')");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_until(f.at_source, "2", 60, "select sum(days) from rowrelay.history_indexes");
  cr_assert(stop_process(process, SIGTERM) == 0);
  fixture_end(&f);
}
