/* What commands do to targets, and to routes from tables to them. */
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "spoken.h"

static struct fixture f;

static void begin(const char *name) {
  spoken_begin(&f, name);
}

static void end(void) {
  fixture_end(&f);
}

/* ---- targets --------------------------------------------------------------------------------------------------- */

Test(commands, a_target_is_added_shown_changed_and_dropped) {
  begin("commands_target");
  SAYS("target w: added\n", "target", "add", "w", "stdout:", "--option", "batch_rows=10", "-o", "on_error=halt");
  SAYS("item: captured, routed to w\nother: captured, routed to w\n", "capture", "item", "other", "--to", "w");
  SAYS("name               value\n"
       "-----------------  -----------\n"
       "name               w\n"
       "url                stdout:\n"
       "state              not running\n"
       "lanes              64\n"
       "option batch_rows  10\n"
       "option on_error    halt\n"
       "table              item\n"
       "table              other\n",
       "target", "show", "w");
  FAILS(2, "table public.item cannot be its own target", "target", "set", "w", "--url", "postgresql:");
  SAYS("target w: set\n", "target", "set", "w", "--url", "postgresql:///elsewhere", "--option",
       "batch_rows=", "--option", "retries=0");
  cr_assert_str_eq(ask(f.at_source, "select concat_ws(' ', url, options) from rowrelay.targets"),
                   "postgresql:///elsewhere {\"retries\": \"0\", \"on_error\": \"halt\"}");
  FAILS(2, "cannot change while tables are routed to it or changes wait", "target", "set", "w", "--option", "lanes=4");
  SAYS("target w: dropped\n", "target", "drop", "w");
  cr_assert_str_eq(ask(f.at_source, "select concat(count(*), ' ', sum(cardinality(targets))) from rowrelay.captures"),
                   "2 0");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.targets"), "0");
  /* A name can be used again, for another target. */
  SAYS("target w: added\n", "target", "add", "w", "stdout:", "-o", "lanes=4");
  sql(f.at_source, "insert into item values (1)");
  cr_assert_str_eq(ask(f.at_source, "select backlog from rowrelay.status"), "0");
  end();
}

Test(commands, the_number_of_lanes_cannot_change_under_queued_changes) {
  begin("commands_lanes");
  SAYS("target w: added\n", "target", "add", "w", f.target_url);
  SAYS("item: captured, routed to w\n", "capture", "item", "--to", "w");
  sql(f.at_source, "insert into item select generate_series(1, 100)");
  SAYS("item: no longer routed to w\n", "route", "item", "w", "--remove");
  FAILS(2, "lanes", "target", "set", "w", "--option", "lanes=2");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_target, "select count(*) from item"), "100");
  SAYS("target w: set\n", "target", "set", "w", "--option", "lanes=2");
  cr_assert_str_eq(rowrelay_ok(&f, "route", "item", "w", NULL), "item: routed to w\n");
  sql(f.at_source, "insert into item select generate_series(101, 200)");
  cr_assert(ask_number(f.at_source, "select count(distinct lane) from rowrelay.queue where lane & 4095 <> 0") == 2);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_target, "select count(*) from item"), "200");
  /* Nor under those that a writer commits later. */
  PGconn *writer = connect_to(f.source, NULL);
  PGconn *setter = connect_to(f.source, NULL);
  sql(writer, "begin; update item set id = -id where id <= 50");
  SAYS("item: no longer routed to w\n", "route", "item", "w", "--remove");
  start(setter, "select rowrelay.set_target('w', options => '{\"lanes\": 3}')");
  usleep(300 * 1000);
  sql(writer, "commit");
  PGresult *answer = PQgetResult(setter);
  cr_assert_not_null(strstr(PQresultErrorMessage(answer), "changes wait"));
  PQclear(answer);
  PQfinish(writer);
  PQfinish(setter);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_target, "select count(*) from item where id < 0"), "50");
  rowrelay_ok(&f, "route", "item", "w", NULL);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  /* More than were ever assigned. */
  SAYS("item: no longer routed to w\n", "route", "item", "w", "--remove");
  SAYS("target w: set\n", "target", "set", "w", "--option", "lanes=300");
  cr_assert_str_eq(rowrelay_ok(&f, "route", "item", "w", NULL), "item: routed to w\n");
  sql(f.at_source, "insert into item select generate_series(201, 1000)");
  rowrelay_ok(&f, "run", "--until-empty", "--wait", "20", NULL);
  cr_assert_str_eq(ask(f.at_target, "select count(*) from item"), "1000");
  end();
}

Test(commands, nothing_is_delivered_to_a_paused_target) {
  begin("commands_pause");
  SAYS("target w: added\n", "target", "add", "w", f.target_url);
  SAYS("item: captured, routed to w\n", "capture", "item", "--to", "w");
  pid_t processes[] = {fixture_run(&f, "--workers", "2", NULL), fixture_run(&f, NULL, NULL)};
  sql(f.at_source, "insert into item values (1)");
  wait_until_empty(&f, 10);
  SAYS("target w: paused\n", "target", "pause", "w");
  sql(f.at_source, "insert into item select generate_series(2, 100)");
  sleep_seconds(1.5);
  cr_assert_str_eq(ask(f.at_target, "select count(*) from item"), "1");
  cr_assert_str_eq(ask(f.at_source, "select concat_ws(' ', state, backlog) from rowrelay.status"), "paused 99");
  SAYS("target w: paused\n", "target", "pause", "w");
  const char *shown = rowrelay_ok(&f, "target", "show", "w", NULL);
  cr_expect_not_null(strstr(shown, "paused by postgres at 20"), "%s", shown);
  const char *errors;
  cr_assert_eq(rowrelay(&f, NULL, &errors, "run", "--until-empty", NULL), 1);
  cr_assert_not_null(strstr(errors, "target w is not running, so its queue will not become empty"), "%s", errors);
  cr_assert_not_null(strstr(errors, "hint: run: rowrelay target resume w"), "%s", errors);
  SAYS("target w: running\n", "target", "resume", "w");
  double resumed = seconds_now();
  wait_until_empty(&f, 10);
  cr_assert(seconds_now() - resumed < 2);
  shown = rowrelay_ok(&f, "target", "show", "w", NULL);
  cr_expect_not_null(strstr(shown, " by postgres\n"), "%s", shown);
  cr_assert_str_eq(ask(f.at_target, "select count(*) from item"), "100");
  for (int i = 0; i < 2; i++)
    cr_assert_eq(stop_process(processes[i], SIGTERM), 0);
  end();
}

Test(commands, a_dropped_target_gets_nothing_more_and_others_go_on) {
  begin("commands_drop");
  SAYS("target w: added\n", "target", "add", "w", f.target_url);
  SAYS("target v: added\n", "target", "add", "v", f.target_url);
  SAYS("item: captured, routed to w\n", "capture", "item", "--to", "w");
  SAYS("other: captured, routed to v\n", "capture", "other", "--to", "v");
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  sql(f.at_source, "insert into item values (1); insert into other values (1)");
  wait_until_empty(&f, 10);
  SAYS("target w: dropped\n", "target", "drop", "w");
  sql(f.at_source, "insert into item values (2); insert into other values (2)");
  wait_until_empty(&f, 10);
  wait_until_says(process, "target w was dropped", 5);
  cr_assert_str_eq(ask(f.at_target, "select concat((select count(*) from item), ' ', (select count(*) from other))"),
                   "1 2");
  /* A new table with the same name is another table. */
  SAYS("target w: added\n", "target", "add", "w", f.target_url);
  cr_assert_str_eq(rowrelay_ok(&f, "route", "item", "w", NULL), "item: routed to w\n");
  sql(f.at_source, "insert into item values (3)");
  wait_until(f.at_target, "2", 10, "select count(*) from item");
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  end();
}

Test(commands, a_target_with_a_backlog_can_be_dropped_while_it_is_served) {
  begin("commands_drop_busy");
  SAYS("target w: added\n", "target", "add", "w", f.target_url, "--option", "batch_rows=100");
  SAYS("item: captured, routed to w\n", "capture", "item", "--to", "w");
  sql(f.at_source,
      "insert into item select n, repeat('x', 500) from generate_series(1, 20000) as n; update item set name = 'y'");
  pid_t process = fixture_run(&f, "--workers", "2", "--until-empty", NULL);
  wait_until(f.at_target, "t", 10, "select count(*) > 0 from item");
  SAYS("target w: dropped\n", "target", "drop", "w");
  cr_assert_eq(wait_process(process, 10), 0, "it should end by itself: nothing is left to deliver");
  cr_assert(ask_number(f.at_target, "select count(*) from item") < 20000);
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.status"), "0");
  end();
}

/* A transaction may be open for days, or prepared. */
Test(commands, what_is_written_for_a_dropped_target_leaves_the_queue_however_late) {
  begin("commands_drop_late");
  SAYS("target w: added\n", "target", "add", "w", f.target_url);
  SAYS("target v: added\n", "target", "add", "v", f.target_url, "--option", "lanes=1");
  SAYS("target u: added\n", "target", "add", "u", f.target_url);
  SAYS("item: captured, routed to w\n", "capture", "item", "--to", "w");
  SAYS("other: captured, routed to v\n", "capture", "other", "--to", "v");
  PGconn *writer = connect_to(f.source, NULL);
  sql(writer, "begin; insert into item select generate_series(1, 100)");
  sql(f.at_source, "insert into other select generate_series(1, 10)");
  SAYS("target w: dropped\n", "target", "drop", "w");
  sql(f.at_source, "update rowrelay.target set dropped_at = dropped_at - interval '3 days'");
  sql(writer, "commit");
  PQfinish(writer);
  /* those of a target, of one without any, and what waits for a copy that goes on and for one that was cancelled */
  sql(f.at_source, "insert into rowrelay.backfill (capture, target, state, rows_estimated) "
                   "select c.id, t.id, case t.name when 'v' then 'cancelled' else 'copying' end, 0 "
                   "from rowrelay.capture c, rowrelay.target t "
                   "where c.relation = 'other'::regclass and t.name in ('u', 'v')");
  sql(f.at_source, "insert into rowrelay.queue select 1, rowrelay.waiting_lane(b.id, n), current_date, 0 "
                   "from rowrelay.backfill b, unnest('{-1,0}'::int[]) as n");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.queue"), "114");
  sql(f.at_source, "select rowrelay.maintain()");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.queue"), "12");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.queue q join rowrelay.backfill b on q.lane = "
                                    "any (array[rowrelay.waiting_lane(b.id, -1), rowrelay.waiting_lane(b.id, 0)]) "
                                    "where b.state = 'copying'"),
                   "2");
  end();
}

Test(commands, a_target_whose_table_is_gone_can_be_dropped) {
  begin("commands_drop_gone");
  SAYS("target w: added\n", "target", "add", "w", f.target_url);
  SAYS("item: captured, routed to w\n", "capture", "item", "--to", "w");
  sql(f.at_source, "drop table item");
  SAYS("target w: dropped\n", "target", "drop", "w");
  end();
}

/* ---- routes ---------------------------------------------------------------------------------------------------- */

Test(commands, a_route_counts_from_when_it_is_made_until_it_is_ended) {
  begin("commands_route");
  SAYS("target w: added\n", "target", "add", "w", f.target_url, "--option", "mode=append");
  SAYS("item: captured\n", "capture", "item");
  pid_t process = fixture_run(&f, NULL, NULL);
  sql(f.at_source, "insert into item values (1)");
  SAYS("item: routed to w\n", "route", "item", "w");
  sql(f.at_source, "insert into item values (2)");
  wait_until_empty(&f, 10);
  SAYS("target w: paused\n", "target", "pause", "w");
  sql(f.at_source, "insert into item values (3)");
  SAYS("item: no longer routed to w\n", "route", "item", "w", "--remove");
  sql(f.at_source, "insert into item values (4)");
  SAYS("target w: running\n", "target", "resume", "w");
  wait_until_empty(&f, 10);
  cr_assert_str_eq(
      ask(f.at_source,
          "select string_agg(coalesce(status ->> 'w', '-'), ' ' order by change_id) from rowrelay.history"),
      "- complete complete -");
  SAYS("item: routed to w\n", "route", "item", "w", "--into", "elsewhere");
  sql(f.at_source, "insert into item values (5)");
  wait_until_empty(&f, 10);
  cr_assert_str_eq(ask(f.at_target, "select string_agg(key, ' ' order by position) from item_changes"), "2 3");
  cr_assert_str_eq(ask(f.at_target, "select string_agg(key, ' ' order by position) from elsewhere"), "5");
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  end();
}

Test(commands, what_was_queued_before_a_release_is_delivered_after_it) {
  begin("commands_release");
  SAYS("target w: added\n", "target", "add", "w", f.target_url);
  SAYS("item: captured, routed to w\nother: captured, routed to w\n", "capture", "item", "other", "--to", "w");
  sql(f.at_source, "insert into item values (1, 'a'), (2, 'b'); update item set name = 'c' where id = 2; delete from "
                   "item where id = 1");
  SAYS("item: released\n", "release", "item");
  sql(f.at_source, "insert into item values (3, 'd')");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_target, "select string_agg(concat(id, name), ' ') from item"), "2c");
  /* Captured again, it starts afresh, beside changes that are still queued. */
  cr_assert_str_eq(rowrelay_ok(&f, "capture", "item", "--to", "w", NULL), "item: captured, routed to w\n");
  sql(f.at_source, "update item set name = 'e' where id = 3");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_target, "select string_agg(concat(id, name), ' ' order by id) from item"), "2c 3e");
  end();
}

Test(commands, what_was_queued_before_a_table_was_dropped_is_delivered) {
  begin("commands_gone");
  SAYS("target w: added\n", "target", "add", "w", f.target_url);
  SAYS("item: captured, routed to w\nother: captured, routed to w\n", "capture", "item", "other", "--to", "w");
  sql(f.at_source,
      "insert into item values (1, 'a'), (2, 'b'); delete from item where id = 1; insert into other values (1)");
  sql(f.at_source, "drop table item");
  pid_t process = fixture_run(&f, NULL, NULL);
  wait_until_empty(&f, 10);
  cr_assert_str_eq(ask(f.at_target, "select string_agg(concat(id, name), ' ') from item"), "2b");
  cr_assert_str_eq(ask(f.at_source, "select note from rowrelay.captures where relation_name like '%%item'"),
                   "the table is gone: release it");
  stop_process(process, SIGTERM);
  end();
}

/* ---- rows from before ------------------------------------------------------------------------------------------ */

static const char *said_on_stderr(const char *command, const char *first, const char *second, const char *third) {
  const char *errors;
  cr_assert_eq(rowrelay(&f, NULL, &errors, command, first, second, third, NULL), 0, "%s", errors);
  return errors;
}

Test(commands, rows_that_a_table_has_already_are_said_not_to_be_copied_when_it_is_routed_to_a_mirror) {
  begin("commands_uncopied");
  sql(f.at_source,
      "create table empty (id int primary key); create table lines (id int primary key);"
      "create table part (id int primary key) partition by range (id);"
      "create table part_0 partition of part for values from (0) to (9);"
      "create table parent (id int); create table child () inherits (parent); insert into child values (1);"
      "insert into item values (1); insert into lines values (1); insert into part values (1)");
  SAYS("target w: added\n", "target", "add", "w", f.target_url);
  SAYS("target lines: added\n", "target", "add", "lines", "file:/dev/null");
  cr_expect_str_eq(said_on_stderr("capture", "empty", "--to", "w"), "");
  cr_expect_str_eq(said_on_stderr("capture", "lines", "--to", "lines"), "");
  cr_expect_str_eq(said_on_stderr("capture", "item", NULL, NULL), "");
  cr_expect_str_eq(said_on_stderr("capture", "item", "--to", "w"),
                   "rowrelay: the rows that the table has already are not copied to w\n"
                   "hint: To copy them: rowrelay backfill public.item --to w\n");
  /* It goes there already. */
  cr_expect_str_eq(said_on_stderr("capture", "item", "--to", "w"), "");
  cr_expect_str_eq(said_on_stderr("capture", "part", NULL, NULL), "");
  cr_expect_str_eq(said_on_stderr("capture", "parent", NULL, NULL), "");
  const char *errors = said_on_stderr("route", "*", "w", NULL);
  cr_expect_str_eq(errors, "rowrelay: the rows that these tables have already are not copied to w\n"
                           "hint: To copy them: rowrelay backfill public.lines public.parent public.part --to w\n");
  cr_expect_str_eq(said_on_stderr("route", "part", "w", "--remove"), "");
  /* Nor are they where it goes from now on. */
  for (int i = 0; i < 2; i++) {
    cr_assert_eq(rowrelay(&f, NULL, &errors, "route", "item", "w", "--into", "elsewhere", NULL), 0);
    cr_expect_str_eq(errors, i > 0 ? ""
                                   : "rowrelay: the rows that the table has already are not copied to w\n"
                                     "hint: To copy them: rowrelay backfill public.item --to w\n");
  }
  end();
}

static char notices[4000];

static void keep_notice(void *unused, const char *text) {
  (void)unused;
  strncat(notices, text, sizeof notices - strlen(notices) - 1);
}

/* What the server says to who runs it in psql. */
static const char *said_in_sql(const char *statement) {
  notices[0] = '\0';
  PQsetNoticeProcessor(f.at_source, keep_notice, NULL);
  sql(f.at_source, "set client_min_messages to notice");
  sql(f.at_source, "%s", statement);
  return notices;
}

Test(commands, rows_that_a_table_has_already_are_said_not_to_be_copied_when_it_is_routed_in_sql) {
  begin("commands_uncopied_sql");
  sql(f.at_source, "create table empty (id int primary key); create table more (id int primary key);"
                   "insert into item values (1); insert into more values (1)");
  SAYS("target w: added\n", "target", "add", "w", f.target_url);
  SAYS("target lines: added\n", "target", "add", "lines", "file:/dev/null");
  static const char notice[] = "NOTICE:  the rows that table public.%s has already are not copied to \"w\"\n"
                               "HINT:  To copy them: select rowrelay.backfill('public.%s', 'w');";
  char expected[300];
  snprintf(expected, sizeof expected, notice, "item", "item");
  const char *said = said_in_sql("select rowrelay.capture_table('item', target => 'w')");
  cr_expect_not_null(strstr(said, expected), "%s", said);
  static const char *const silent[] = {"select rowrelay.capture_table('item', target => 'w')",
                                       "select rowrelay.capture_table('item', target => 'lines')",
                                       "select rowrelay.capture_table('empty', target => 'w')",
                                       "select rowrelay.capture_table('more')"};
  for (size_t i = 0; i < sizeof silent / sizeof *silent; i++) {
    said = said_in_sql(silent[i]);
    cr_expect_null(strstr(said, "not copied"), "%s", said);
  }
  snprintf(expected, sizeof expected, notice, "more", "more");
  said = said_in_sql("select rowrelay.route('more', 'w')");
  cr_expect_not_null(strstr(said, expected), "%s", said);
  said = said_in_sql("select rowrelay.route('more', 'w', into_table => 'elsewhere')");
  cr_expect_not_null(strstr(said, expected), "%s", said);
  end();
}
