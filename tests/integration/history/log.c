/* rowrelay log: what people see of the log. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "terminal.h"

static struct fixture f;

static void begin(const char *name) {
  unsetenv("PAGER");
  unsetenv("NO_COLOR");
  setenv("TERM", "xterm", 1);
  fixture_begin(&f, name);
  sql(f.at_source, "create table item (id int primary key, name text, price numeric)");
  sql(f.at_source, "create table note (id int primary key, body text)");
  sql(f.at_source, "select rowrelay.capture_table('item', before => 'full'), rowrelay.capture_table('note')");
}

static void end(void) {
  fixture_end(&f);
}

/* What stands in this column, from 1, of each line of --oneline: "3 2 1". */
static const char *column(const char *lines, int number) {
  static char words[64 * 1024];
  size_t length = 0;
  words[0] = '\0';
  for (const char *line = lines; *line != '\0'; line += strcspn(line, "\n") + 1) {
    const char *word = line;
    for (int i = 1; i < number; i++)
      word += strcspn(word, " \n") + 1;
    length += (size_t)snprintf(words + length, sizeof words - length, "%s%.*s", length > 0 ? " " : "",
                               (int)strcspn(word, " \n"), word);
  }
  return words;
}

#define OPS(...) column(rowrelay_ok(&f, "log", "--oneline", __VA_ARGS__, NULL), 4)
#define KEYS(...) column(rowrelay_ok(&f, "log", "--oneline", __VA_ARGS__, NULL), 6)

static int count_of(const char *text, const char *words) {
  int count = 0;
  for (const char *found = strstr(text, words); found != NULL; found = strstr(found + 1, words))
    count++;
  return count;
}

#define HAS(text, words) cr_assert_not_null(strstr(text, words), "no \"%s\" in:\n%s", words, text)
#define HAS_NOT(text, words) cr_assert_null(strstr(text, words), "\"%s\" in:\n%s", words, text)

/* ---- entries --------------------------------------------------------------------------------------------------- */

Test(log, a_paragraph_says_what_changed_who_did_it_and_when) {
  begin("log_paragraph");
  sql(f.at_source, "insert into item values (1, 'tea', 2.50)");
  sql(f.at_source, "begin; set local rowrelay.actor = 'anna'; update item set price = 3.00 where id = 1; commit");
  sql(f.at_source, "delete from item");
  sql(f.at_source, "truncate item");
  const char *said = rowrelay_ok(&f, "log", "item", NULL);
  const char *expected[] = {
      "change 4 truncate item\n",
      "change 3 delete item 1\n",
      "\n    -id: 1\n    -name: \"tea\"\n    -price: 3.00\n",
      "change 2 update item 1\nActor:       anna (user postgres",
      "\nDate:        20",
      "\nTransaction: ",
      "\n\n    -price: 2.50\n    +price: 3.00\n\nchange 1 insert item 1\nActor:       postgres",
      "\n    +id: 1\n    +name: \"tea\"\n    +price: 2.50\n",
  };
  const char *rest = said;
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
    rest = strstr(rest, expected[i]);
    cr_assert_not_null(rest, "no \"%s\" in:\n%s", expected[i], said);
  }
  HAS_NOT(said, "\033");
  end();
}

Test(log, an_update_without_the_row_before_shows_the_row_and_by_key_what_changed) {
  begin("log_before");
  sql(f.at_source, "insert into note values (1, 'a'), (2, 'b'); update note set body = 'c' where id = 1");
  sql(f.at_source, "update note set body = 'd' where id = 1; truncate note; insert into note values (1, 'e')");
  HAS(rowrelay_ok(&f, "log", "note", "--op", "update", NULL), "\n\n     id: 1\n     body: \"d\"\n");
  const char *said = rowrelay_ok(&f, "log", "note", "1", "--oneline", NULL);
  cr_assert_str_eq(column(said, 4), "insert truncate update update insert");
  HAS(said, "  body: \"c\" -> \"d\"\n");
  HAS(said, "  body: \"a\" -> \"c\"\n");
  /* Also when the change before is not shown. */
  said = rowrelay_ok(&f, "log", "note", "1", "--oneline", "-n", "1", "--op", "update", NULL);
  HAS(said, "  body: \"c\" -> \"d\"\n");
  end();
}

Test(log, what_has_become_of_a_change_is_said_for_each_target) {
  begin("log_targets");
  rowrelay_ok(&f, "target", "add", "w", "file:/dev/null", NULL);
  rowrelay_ok(&f, "target", "add", "unserved", "stdout:", NULL);
  rowrelay_ok(&f, "route", "item", "w", NULL);
  rowrelay_ok(&f, "route", "item", "unserved", NULL);
  sql(f.at_source, "insert into item values (1, 'tea', 2.50)");
  rowrelay_ok(&f, "run", "--until-empty", "--target", "w", NULL);
  const char *said = rowrelay_ok(&f, "log", NULL, NULL);
  HAS(said, "\nTo unserved: new\n");
  HAS(said, "\nTo w:        complete");
  end();
}

Test(log, json_is_an_object_a_line_with_all_that_is_known) {
  begin("log_json");
  sql(f.at_source, "create table doc (id int primary key, body json)");
  sql(f.at_source, "select rowrelay.capture_table('doc')");
  sql(f.at_source, "insert into doc values (1, E'{\"a\":\\n  1}'); insert into doc values (2, null)");
  const char *said = rowrelay_ok(&f, "log", "--json", NULL);
  cr_assert_eq(count_of(said, "\n"), 2, "%s", said);
  char *line = strdup(said);
  line[strcspn(line, "\n")] = '\0';
  char *object = PQescapeLiteral(f.at_source, line, strlen(line));
  cr_assert_str_eq(ask(f.at_source,
                       "select concat_ws(' ', j ->> 'change_id', j ->> 'relation', j ->> 'op', j ->> 'key', "
                       "j -> 'new_row' ->> 'id', j ? 'old_row' and j ? 'changed' and j ? 'txid' and j ? 'actor' and "
                       "j ? 'status' and j ? 'client_addr') from (select %s::jsonb) x (j)",
                       object),
                   "2 doc insert 2 2 t");
  PQfreemem(object);
  free(line);
  end();
}

Test(log, nothing_that_a_row_holds_is_obeyed_by_the_terminal) {
  begin("log_control");
  sql(f.at_source, "create table \"odd\x1b[31m\" (\"c\x1b[5m\" text primary key)");
  sql(f.at_source, "select rowrelay.capture_table('\"odd\x1b[31m\"')");
  sql(f.at_source,
      "set rowrelay.actor = E'mallory\\x1b]0;x\\x07\\n'; insert into \"odd\x1b[31m\" values (E'\\u009b31m \\x1b[31m')");
  const char *forms[] = {"--no-pager", "--oneline"};
  for (size_t i = 0; i < 2; i++) {
    const char *said = rowrelay_ok(&f, "log", forms[i], NULL);
    HAS(said, "odd\\x1b[31m");
    HAS(said, "mallory\\x1b]0;x\\x07");
    HAS(said, "\\u009b31m");
    HAS_NOT(said, "\033");
    HAS_NOT(said, "\xc2\x9b");
  }
  end();
}

/* ---- which --------------------------------------------------------------------------------------------------- */

Test(log, changes_are_chosen_by_table_operation_actor_time_and_transaction) {
  begin("log_filters");
  sql(f.at_source,
      "create schema shop; create table shop.a (id int primary key); create table shop.b (id int primary key)");
  sql(f.at_source, "select rowrelay.capture_table('shop.a'), rowrelay.capture_table('shop.b')");
  sql(f.at_source, "insert into item values (1); insert into shop.a values (2); insert into shop.b values (3)");
  sql(f.at_source, "begin; set local rowrelay.actor = 'anna'; update shop.a set id = 2; delete from item; commit");
  cr_assert_str_eq(KEYS("shop.*"), "2 3 2");
  cr_assert_str_eq(KEYS("shop.a", "--table", "item"), "1 2 2 1");
  cr_assert_str_eq(KEYS("shop.a", "2"), "2 2");
  cr_assert_str_eq(OPS("--op", "update", "--op", "delete"), "delete update");
  cr_assert_str_eq(OPS("--actor", "anna"), "delete update");
  cr_assert_str_eq(OPS("--actor", "postgres", "-n", "2"), "delete update");
  cr_assert_str_eq(OPS("--actor", "nobody"), "");
  cr_assert_str_eq(OPS("--txid", ask(f.at_source, "select txid from rowrelay.history order by txid desc limit 1")),
                   "delete update");
  cr_assert_str_eq(OPS("--since", "tomorrow"), "");
  cr_assert_str_eq(OPS("--since", "yesterday", "-n", "1"), "delete");
  cr_assert_str_eq(OPS("--since", "1 min ago", "--until", "tomorrow", "--op", "delete"), "delete");
  cr_assert_str_eq(OPS("--until", "2 hours"), "");
  char middle[64];
  snprintf(middle, sizeof middle, "%s",
           ask(f.at_source, "select captured_at from rowrelay.history where change_id = 3"));
  cr_assert_str_eq(KEYS("--until", middle), "3 2 1");
  cr_assert_str_eq(KEYS("--since", middle), "1 2 3");
  end();
}

Test(log, what_cannot_be_is_wrong_use) {
  begin("log_wrong");
  const char *errors;
  cr_assert_eq(rowrelay(&f, NULL, &errors, "log", "nothing", NULL), 2);
  HAS(errors, "no table that is or was captured matches \"nothing\"");
  cr_assert_eq(rowrelay(&f, NULL, &errors, "log", "*", "1", NULL), 2);
  HAS(errors, "a key needs one table, but \"*\" matches 2");
  cr_assert_eq(rowrelay(&f, NULL, &errors, "log", "--op", "upsert", NULL), 2);
  HAS(errors, "unknown operation \"upsert\"");
  cr_assert_eq(rowrelay(&f, NULL, &errors, "log", "--op", "insert,update", NULL), 2);
  HAS(errors, "for several, give each of them on its own");
  cr_assert_eq(rowrelay(&f, NULL, &errors, "log", "--color=sometimes", NULL), 2);
  HAS(errors, "--color must be auto, always or never");
  cr_assert_eq(rowrelay(&f, NULL, &errors, "log", "--txid", "one", NULL), 2);
  end();
}

Test(log, a_time_without_quotes_is_not_taken_for_a_table) {
  begin("log_quotes");
  const char *errors;
  cr_assert_eq(rowrelay(&f, NULL, &errors, "log", "--since", "2", "hours", "ago", NULL), 2);
  HAS(errors, "option --since must be a time, not \"2\"");
  cr_assert_eq(rowrelay(&f, NULL, &errors, "log", "--since", "2", "hours", NULL), 2);
  HAS(errors, "option --since must be a time, not \"2\"");
  cr_assert_eq(rowrelay(&f, NULL, &errors, "log", "--since", "2026-03-01", "12:00", NULL), 2);
  HAS(errors, "a time of several words is written in quotes");
  cr_assert_eq(rowrelay(&f, NULL, &errors, "log", "--since", "last", NULL), 2);
  end();
}

Test(log, a_filter_that_leaves_nothing_is_not_blamed_on_the_key) {
  begin("log_blame");
  const char *errors;
  sql(f.at_source, "insert into item values (1, 'tea')");
  cr_assert_eq(rowrelay(&f, NULL, &errors, "log", "item", "1", "--op", "delete", NULL), 0);
  HAS(errors, "the log has no such change of row 1 of item");
  HAS_NOT(errors, "how its keys are written");
  cr_assert_eq(rowrelay(&f, NULL, &errors, "log", "item", "2", NULL), 0);
  HAS(errors, "how its keys are written");
  end();
}

Test(log, the_log_of_a_table_that_is_gone_is_found_by_its_name) {
  begin("log_gone");
  sql(f.at_source, "insert into item values (1, 'tea'); drop table item");
  HAS(rowrelay_ok(&f, "log", "item", "--oneline", NULL), " insert public.item 1 ");
  end();
}

/* As if these had been written on the day before yesterday and yesterday, some of the latter after midnight. */
static void write_days(int per_day) {
  sql(f.at_source,
      "do $$ declare d date; begin"
      " for d in select (now() at time zone 'UTC')::date - n from generate_series(1, 2) as n loop"
      "  execute format('create table rowrelay.change_%%s (like rowrelay.change including all)', to_char(d, "
      "'YYYYMMDD'));"
      "  execute format('alter table rowrelay.change attach partition rowrelay.change_%%s for values from (%%L) to "
      "(%%L)',"
      "                 to_char(d, 'YYYYMMDD'), d, d + 1);"
      " end loop; end $$;"
      "insert into rowrelay.change (id, txid, captured_at, day, capture, op, key, new_row)"
      "select n, '3', now() - interval '1 day', (now() at time zone 'UTC')::date - case when n <= %d or n %% 10 = 0 "
      "then 2 else 1 end,"
      "       (select id from rowrelay.capture where relation = 'item'::regclass), 'i', n, '{}'"
      "  from generate_series(1, 2 * %d) as n;"
      "select setval('rowrelay.change_id', 2 * %d)",
      per_day, per_day, per_day);
}

Test(log, the_newest_is_first_also_where_days_overlap) {
  begin("log_days");
  write_days(3000);
  sql(f.at_source, "insert into item values (1)");
  const char *said = rowrelay_ok(&f, "log", "--oneline", NULL);
  int64_t expected = 6001;
  for (const char *line = said; *line != '\0'; line += strcspn(line, "\n") + 1)
    cr_assert_eq(strtoll(line, NULL, 10), expected--, "%.80s", line);
  cr_assert_eq(expected, 0);
  cr_assert_str_eq(column(rowrelay_ok(&f, "log", "--oneline", "-n", "3", NULL), 1), "6001 6000 5999");
  cr_assert_str_eq(column(rowrelay_ok(&f, "log", "--oneline", "item", "7", NULL), 1), "7");
  end();
}

/* ---- on a terminal --------------------------------------------------------------------------------------------- */

Test(log, colours_are_for_terminals_and_for_who_wants_them) {
  begin("log_colours");
  sql(f.at_source, "insert into item values (1, 'tea', 2.50); update item set price = 3");
  setenv("PAGER", "cat", 1);
  HAS(on_terminal(&f, NULL, "log", NULL), "\033[31m-price: 2.50\033[m\n    \033[32m+price: 3\033[m");
  HAS_NOT(on_terminal(&f, NULL, "log", "--color=never", NULL), "\033");
  HAS(rowrelay_ok(&f, "log", "--color", NULL), "\033[32m+price: 3\033[m");
  setenv("NO_COLOR", "1", 1);
  HAS_NOT(on_terminal(&f, NULL, "log", NULL), "\033");
  HAS(on_terminal(&f, NULL, "log", "--color=always", NULL), "\033[32m");
  unsetenv("NO_COLOR");
  setenv("TERM", "dumb", 1);
  HAS_NOT(on_terminal(&f, NULL, "log", NULL), "\033");
  end();
}

Test(log, a_line_fits_the_terminal) {
  begin("log_width");
  sql(f.at_source, "insert into item values (1, repeat('ü', 200), 1), (2, repeat('漢', 200), 2)");
  setenv("PAGER", "cat", 1);
  setenv("NO_COLOR", "1", 1);
  const char *said = on_terminal(&f, NULL, "log", "--oneline", NULL);
  char *literal = PQescapeLiteral(f.at_source, said, strlen(said));
  cr_assert_str_eq(ask(f.at_source,
                       "select bool_and(length(l) + (length(l) - length(replace(l, '漢', ''))) <= 80 and l like "
                       "'%%…%%') from regexp_split_to_table(rtrim(%s, E'\\n'), '\\n') l",
                       literal),
                   "t", "%s", said);
  PQfreemem(literal);
  cr_assert(strlen(rowrelay_ok(&f, "log", "--oneline", NULL)) > 200);
  end();
}

Test(log, a_pager_is_used_on_a_terminal_and_may_leave_early) {
  begin("log_pager");
  sql(f.at_source, "insert into item select n from generate_series(1, 20000) n");
  int status;
  setenv("PAGER", "sed 's/^/paged: /'", 1);
  HAS(on_terminal(&f, &status, "log", "-n", "1", NULL), "paged: \033[33mchange 20000");
  cr_assert_eq(status, 0);
  HAS_NOT(on_terminal(&f, NULL, "log", "-n", "1", "--no-pager", NULL), "paged");
  HAS_NOT(rowrelay_ok(&f, "log", "-n", "1", NULL), "paged");
  /* The whole log does not fit into the pipe. */
  setenv("PAGER", "head -n 1", 1);
  const char *said = on_terminal(&f, &status, "log", "--oneline", "--color=never", NULL);
  cr_assert_eq(status, 0);
  cr_assert_eq(count_of(said, "\n"), 1, "%s", said);
  setenv("PAGER", "no-such-pager", 1);
  on_terminal(&f, &status, "log", NULL);
  cr_assert_eq(status, 0);
  unsetenv("PAGER");
  setenv("LESS", "", 1);
  HAS(on_terminal(&f, &status, "log", "-n", "1", NULL), "\033[33mchange 20000");
  cr_assert_eq(status, 0);
  end();
}

Test(log, nothing_is_held_at_the_source_while_somebody_reads) {
  begin("log_held");
  sql(f.at_source, "insert into item select n from generate_series(1, 20000) n");
  /* It reads nothing itself, so rowrelay waits for it. */
  setenv(
      "PAGER",
      "for i in $(seq 50); do held=$($(tests/support/pg.sh bin)/psql \"$PGTEST\" -Atc \"select count(*) filter "
      "(where state <> 'idle' or backend_xmin is not null), count(*) from pg_stat_activity where application_name "
      "= 'rowrelay' and datname = current_database()\"); [ $held = '0|1' ] && break; sleep 0.2; done; echo held: $held",
      1);
  setenv("PGTEST", f.source, 1);
  const char *said = on_terminal(&f, NULL, "log", NULL);
  HAS(said, "held: 0|1\n");
  end();
}

/* ---- as it was --------------------------------------------------------------------------------------------------- */

Test(log, a_table_or_a_row_is_shown_as_it_was) {
  begin("log_as_of");
  sql(f.at_source, "insert into item values (1, 'tea', 2.50)");
  sql(f.at_source, "insert into item select n, 'many', 0 from generate_series(2, 1200) n");
  char moment[64];
  snprintf(moment, sizeof moment, "%s", ask(f.at_source, "select clock_timestamp()"));
  sql(f.at_source, "update item set price = 3 where id = 1; delete from item where id = 2");
  cr_assert_str_eq(rowrelay_ok(&f, "log", "item", "1", "--as-of", moment, NULL),
                   "    id: 1\n    name: \"tea\"\n    price: 2.50\n");
  cr_assert_str_eq(rowrelay_ok(&f, "log", "item", "1", "--json", "--as-of", "tomorrow", NULL),
                   "{\"id\":1,\"name\":\"tea\",\"price\":3}\n");
  cr_assert_eq(count_of(rowrelay_ok(&f, "log", "item", "--json", "--as-of", moment, NULL), "\n"), 1200);
  cr_assert_eq(count_of(rowrelay_ok(&f, "log", "item", "--json", "--as-of", "tomorrow", NULL), "\n"), 1199);
  cr_assert_eq(count_of(rowrelay_ok(&f, "log", "item", "--json", "-n", "7", "--as-of", moment, NULL), "\n"), 7);
  const char *errors;
  cr_assert_eq(rowrelay(&f, NULL, &errors, "log", "*", "--as-of", moment, NULL), 2);
  HAS(errors, "--as-of needs exactly one table");
  cr_assert_eq(rowrelay(&f, NULL, &errors, "log", "item", "--as-of", moment, "--op", "insert", NULL), 2);
  HAS(errors, "options --as-of and --op cannot be combined");
  cr_assert_eq(rowrelay(&f, NULL, &errors, "log", "item", "--as-of", "2020-01-01", NULL), 2);
  HAS(errors, "the log of table public.item begins at");
  end();
}

/* ---- as it happens ----------------------------------------------------------------------------------------------- */

static pid_t follow(void) {
  sql(f.at_source, "insert into item values (-1)");
  pid_t process = fixture_start(&f, "log", "--follow", "--oneline", "-n", "1", NULL);
  wait_until_says(process, " item -1 ", 20);
  return process;
}

static void shows_once(pid_t process, int key) {
  char words[32];
  snprintf(words, sizeof words, " item %d ", key);
  cr_assert_eq(count_of(process_log(process), words), 1, "%s", process_log(process));
}

Test(log, what_commits_late_is_shown_then_and_nothing_twice) {
  begin("log_follow");
  PGconn *early = connect_to(f.source, NULL);
  PGconn *late = connect_to(f.source, NULL);
  /* This one runs already when following begins. */
  sql(early, "begin; insert into item values (1)");
  pid_t process = follow();
  sql(late, "begin; insert into item values (2)");
  sql(f.at_source, "insert into item values (3)");
  wait_until_says(process, " item 3 ", 10);
  HAS_NOT(process_log(process), " item 2 ");
  sql(early, "insert into item values (4); commit");
  wait_until_says(process, " item 4 ", 10);
  for (int i = 0; i < 40; i++) {
    sql(early, "begin; insert into item values (%d)", 100 + 3 * i);
    sql(f.at_source, "insert into item values (%d)", 101 + 3 * i);
    sleep_seconds(0.02);
    sql(early, "%s; insert into item values (%d)", i % 4 == 0 ? "rollback" : "commit", 102 + 3 * i);
  }
  sql(late, "commit; insert into item select generate_series(1001, 4000); insert into item values (5)");
  wait_until_says(process, " item 2 ", 10);
  wait_until_says(process, " item 5 ", 10);
  for (int key = 1; key <= 5; key++)
    shows_once(process, key);
  for (int i = 0; i < 120; i++)
    if (i % 12 != 0)
      shows_once(process, 100 + i);
  cr_assert_eq(count_of(process_log(process), "\n"), 1 + 5 + 110 + 3000, "%s", process_log(process));
  PQfinish(early);
  PQfinish(late);
  cr_assert_eq(stop_process(process, SIGINT), 0);
  end();
}

Test(log, what_began_days_ago_is_shown_when_it_commits) {
  begin("log_old_days");
  write_days(10);
  pid_t process = follow();
  /* As a transaction writes that began on the day before yesterday. */
  sql(f.at_source,
      "insert into rowrelay.change (txid, captured_at, day, capture, op, key, new_row)"
      "select pg_current_xact_id(), clock_timestamp(), (now() at time zone 'UTC')::date - 2, c.id, 'i', '77', '{}'"
      "  from rowrelay.capture c where c.relation = 'item'::regclass");
  wait_until_says(process, " item 77", 15);
  cr_assert_eq(count_of(process_log(process), " item 77"), 1);
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  end();
}

/* Looking at what lies between would take a month. */
Test(log, what_was_before_a_restart_is_found_although_ids_go_on_far_behind_it) {
  begin("log_gap");
  for (int i = 1; i <= 3; i++) {
    sql(f.at_source, "insert into item select %d * 100 + n from generate_series(1, 2) as n", i);
    sql(f.at_source, "select setval('rowrelay.server_run', 1); update rowrelay.source set server[5] = 'another'");
    sql(f.at_source, "select rowrelay.skip_lost_ids(), pg_sleep(1.1)");
  }
  cr_assert(ask_number(f.at_source, "select max(id) - min(id) from rowrelay.change") > 10000000000000);
  cr_assert_str_eq(KEYS("item"), "302 301 202 201 102 101");
  cr_assert_str_eq(KEYS("item", "--op", "delete"), "");
  cr_assert_str_eq(KEYS("item", "101"), "101");
  end();
}

Test(log, a_crash_of_the_server_is_survived_even_where_it_gives_out_numbers_anew) {
  own_server("source", "wal_writer_delay=10s");
  begin("log_crash");
  pid_t process = follow();
  sql(f.at_source, "insert into item values (1)");
  wait_until_says(process, " item 1 ", 10);
  /* The server has not written this down when it crashes. */
  sql(f.at_source, "set synchronous_commit to off; insert into item values (2)");
  wait_until_says(process, " item 2 ", 10);
  PQfinish(f.at_source);
  restart_server("source", "immediate");
  f.at_source = connect_to(f.source, NULL);
  bool forgotten = strcmp(ask(f.at_source, "select count(*) from item where id = 2"), "0") == 0;
  sql(f.at_source, "insert into item values (3); insert into item values (4)");
  wait_until_says(process, " item 4 ", 20);
  for (int key = 1; key <= 4; key++)
    shows_once(process, key);
  cr_assert(forgotten);
  HAS(process_log(process), "; trying again");
  cr_assert_eq(stop_process(process, SIGINT), 0);
  end();
}
