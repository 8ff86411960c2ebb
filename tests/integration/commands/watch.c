/* watch: `rowrelay status --watch`, on a terminal and in a pipe. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "terminal.h"

static struct fixture f;

/* Table item goes to target w, which does not have it. */
static void begin(const char *name) {
  fixture_begin(&f, name);
  sql(f.at_source, "create table item (id int primary key, name text)");
  rowrelay_ok(&f, "target", "add", "a_first", "file:/dev/null", NULL);
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
}

/* How many lines a page has. */
static int line_count(const char *text) {
  int count = 0;
  int filled = 0;
  for (; *text != '\0'; text += strcspn(text, "\n") + 1) {
    count++;
    filled = *text != '\n' ? count : filled;
  }
  return filled;
}

Test(watch, a_terminal_shows_totals_and_those_in_trouble_first_and_is_redrawn_in_place) {
  begin("watch_trouble");
  sql(f.at_source, "insert into item select generate_series(1, 1234)");
  pid_t process = fixture_run(&f, NULL, NULL);
  terminal_start(&f, 24, 80, "status", "--watch", "1", NULL);
  const char *page = terminal_wait("waits since", 20);
  cr_expect_not_null(strstr(page, f.name), "%s", page);
  cr_expect_not_null(strstr(page, "backlog 0  rate 0.0/s  errors 0  blocked 1234\n2 targets: 2 running\n"), "%s", page);
  /* A line may be as wide as the terminal. */
  cr_expect_not_null(strstr(page, "  every 1 s  q quits\n"), "%s", page);
  cr_expect_not_null(strstr(page, "does not exist in the target"), "%s", page);
  cr_expect(strstr(page, "\nw  ") < strstr(page, "\na_first "), "%s", page);

  sql(f.at_target, "create table item (id int primary key, name text)");
  page = terminal_wait_without("waits since", 20);
  cr_expect_null(strstr(page, "does not exist"), "%s", page);
  cr_expect(strstr(page, "\na_first ") < strstr(page, "\nw  "), "%s", page);
  terminal_type("q");
  cr_assert_eq(terminal_end(5), 0);
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

Test(watch, it_fits_whatever_size_the_terminal_has_and_gets) {
  begin("watch_size");
  for (int i = 0; i < 30; i++)
    sql(f.at_source, "select rowrelay.add_target('a_target_called_%s_%d', 'file:/dev/null')",
        i % 2 ? "straße" : "by_a_name_too_long_for_anything", i);
  terminal_start(&f, 10, 40, "status", "--watch", "100", NULL);
  const char *page = terminal_wait("\n32 targets: 32 not running\n", 10);
  cr_expect_not_null(strstr(page, "\nand 28 more\n"), "%s", page);
  cr_expect_null(strstr(page, "BLOCKED"), "%s", page);
  terminal_resize(60, 80);
  page = terminal_wait("BLOCKED", 10);
  cr_expect_null(strstr(page, " more\n"), "%s", page);
  cr_expect_eq(line_count(page), 5 + 32, "%s", page);
  /* It copes with a very small terminal. */
  terminal_resize(3, 12);
  terminal_wait("\nand 32 more\n", 10);
  terminal_resize(1, 3);
  terminal_wait_without("more", 10);
  terminal_resize(24, 80);
  terminal_wait("BLOCKED", 10);
  /* A key refreshes at once. */
  sql(f.at_source, "select rowrelay.drop_target('a_first')");
  terminal_type(" ");
  terminal_wait("\n31 targets", 10);
  terminal_type("\003");
  cr_assert_eq(terminal_end(5), 0);
  fixture_end(&f);
}

Test(watch, captured_tables_are_shown_the_same_way) {
  begin("watch_tables");
  terminal_start(&f, 24, 80, "status", "--tables", "--watch", "1", NULL);
  terminal_wait("\nitem   id   w", 10);
  terminal_type("q");
  cr_assert_eq(terminal_end(5), 0);
  fixture_end(&f);
}

Test(watch, a_source_that_goes_away_is_waited_for) {
  own_server("source", NULL);
  begin("watch_away");
  terminal_start(&f, 24, 80, "status", "--watch", "1", NULL);
  terminal_wait("\n2 targets: 2 not running\n", 10);
  PQfinish(f.at_source);
  stop_server("source", "fast");
  /* The last known state is still shown. */
  const char *page = terminal_wait("\nthe source does not answer, trying again: ", 10);
  cr_expect_not_null(strstr(page, "\n2 targets: 2 not running\n"), "%s", page);
  start_server("source");
  terminal_wait_without("the source is away", 10);
  f.at_source = connect_to(f.source, NULL);
  sql(f.at_source, "select rowrelay.drop_target('a_first')");
  terminal_wait("\n1 target: 1 not running\n", 10);
  terminal_type("q");
  cr_assert_eq(terminal_end(5), 0);
  fixture_end(&f);
}

Test(watch, in_a_pipe_one_table_follows_the_other) {
  begin("watch_pipe");
  pid_t process = fixture_start(&f, "status", "--watch", "1", NULL);
  wait_until_says(process, "\n\ntarget ", 10);
  cr_expect_null(strchr(process_log(process), '\033'));
  stop_process(process, SIGINT);
  fixture_end(&f);
}
