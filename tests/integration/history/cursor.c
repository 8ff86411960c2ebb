/* rowrelay.changes_since(): a consumer that reads the log by a cursor gets each change once. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "past.h"
#include "people.h"
#include "writers.h"

static struct fixture f;
/* The consumer: where it goes on. */
static char cursor[4096];

static void begin(const char *name) {
  fixture_begin(&f, name);
  sql(f.at_source, "create table item (id int primary key, n int); select rowrelay.capture_table('item')");
  snprintf(cursor, sizeof cursor, "%s", "");
}

static PGresult *ask_since(PGconn *consumer, const char *from, int most) {
  const char *values[] = {from, NULL};
  char limit[16];
  snprintf(limit, sizeof limit, "%d", most);
  values[1] = limit;
  return PQexecParams(consumer, "select next_cursor, change_id, op, key from rowrelay.changes_since($1, $2::int)", 2,
                      NULL, values, NULL, NULL, 0);
}

/* Reads at most so many changes, and goes on behind them: "i1 u2 ", the operation and the key of each. */
static const char *read_some(PGconn *consumer, int most) {
  static char words[64 * 1024];
  size_t length = 0;
  words[0] = '\0';
  PGresult *rows = ask_since(consumer, cursor, most);
  cr_assert(PQresultStatus(rows) == PGRES_TUPLES_OK, "%s", PQerrorMessage(consumer));
  cr_assert(PQntuples(rows) <= most || PQgetisnull(rows, PQntuples(rows) - 1, 1));
  for (int i = 0; i < PQntuples(rows); i++) {
    snprintf(cursor, sizeof cursor, "%s", PQgetvalue(rows, i, 0));
    if (!PQgetisnull(rows, i, 1))
      length += (size_t)snprintf(words + length, sizeof words - length, "%c%s ", PQgetvalue(rows, i, 2)[0],
                                 PQgetvalue(rows, i, 3));
  }
  PQclear(rows);
  return words;
}

Test(cursor, hands_out_each_change_once_however_late_it_commits) {
  begin("cursor_late");
  PGconn *late = connect_to(f.source, NULL);
  PGconn *later = connect_to(f.source, NULL);
  sql(f.at_source, "insert into item values (1)");
  sql(late, "begin; insert into item values (2)");
  sql(later, "begin; savepoint a; insert into item values (3); release a");
  sql(f.at_source, "insert into item values (4)");
  cr_assert_str_eq(read_some(f.at_source, 100), "i1 i4 ");
  cr_assert_str_eq(read_some(f.at_source, 100), "");
  sql(f.at_source, "insert into item values (5)");
  sql(f.at_source, "select rowrelay.tick(at_once => true)");
  sql(late, "update item set n = 1 where id = 2; commit");
  cr_assert_str_eq(read_some(f.at_source, 2), "i2 i5 ");
  sql(later, "commit");
  sql(f.at_source, "insert into item values (6); update item set n = 2 where id = 3");
  cr_assert_str_eq(read_some(f.at_source, 2), "u2 ", "what is being read is read to its end first");
  cr_assert_str_eq(read_some(f.at_source, 100), "i3 i6 u3 ");
  sql(f.at_source, "begin; insert into item values (7); rollback; delete from item where id = 6; truncate item");
  cr_assert_str_eq(read_some(f.at_source, 100), "d6 t ");
  cr_assert_str_eq(read_some(f.at_source, 100), "");
  PQfinish(late);
  PQfinish(later);
  fixture_end(&f);
}

/* PostgreSQL does not list the transaction that asks among the open ones. */
Test(cursor, hands_out_later_what_the_transaction_that_asks_has_written) {
  begin("cursor_own");
  PGconn *other = connect_to(f.source, NULL);
  sql(f.at_source, "begin; insert into item values (1)");
  sql(other, "insert into item values (2)");
  cr_assert_str_eq(read_some(f.at_source, 100), "i2 ");
  sql(f.at_source, "insert into item values (3)");
  sql(other, "insert into item values (4)");
  cr_assert_str_eq(read_some(f.at_source, 100), "i4 ");
  sql(f.at_source, "update item set n = 1 where id = 3; commit");
  cr_assert_str_eq(read_some(f.at_source, 100), "i1 i3 u3 ");
  cr_assert_str_eq(read_some(f.at_source, 100), "");
  PQfinish(other);
  fixture_end(&f);
}

/* Nor would it be noticed by the end of both snapshots, which is the same. */
Test(cursor, is_not_taken_back_by_a_transaction_that_sees_an_older_state) {
  begin("cursor_older");
  PGconn *late = connect_to(f.source, NULL);
  PGconn *older = connect_to(f.source, NULL);
  sql(late, "begin; insert into item values (1)");
  sql(f.at_source, "insert into item values (2)");
  sql(older, "begin isolation level repeatable read; select count(*) from item");
  sql(late, "commit");
  cr_assert_str_eq(read_some(f.at_source, 100), "i1 i2 ");
  sql_fails(older, "select rowrelay.changes_since('%s')", cursor);
  PQfinish(late);
  PQfinish(older);
  fixture_end(&f);
}

Test(cursor, begins_where_it_is_told_to) {
  begin("cursor_begin");
  sql(f.at_source, "create table note (id int primary key); select rowrelay.capture_table('note')");
  sql(f.at_source, "insert into item values (1); insert into note values (2)");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(key, ' ') from rowrelay.changes_since('', 10, '{note}')"), "2");
  snprintf(cursor, sizeof cursor, "now");
  cr_assert_str_eq(read_some(f.at_source, 10), "");
  sql(f.at_source, "insert into item values (3)");
  cr_assert_str_eq(read_some(f.at_source, 10), "i3 ");
  sql_fails(f.at_source, "select * from rowrelay.changes_since('1.5')");
  cr_assert_not_null(strstr(PQerrorMessage(f.at_source), "this is not a cursor: 1.5"));
  sql_fails(f.at_source, "select * from rowrelay.changes_since(split_part('%s', '/', 1) || '/9:3:5')", cursor);
  cr_assert_not_null(strstr(PQerrorMessage(f.at_source), "this is not a cursor"));
  /* of what this server has lost */
  sql_fails(f.at_source,
            "select * from rowrelay.changes_since(format('%%s/%%s:%%2$s:', split_part('%s', '/', 1), 9 + "
            "pg_snapshot_xmax(pg_current_snapshot())::text::bigint))",
            cursor);
  cr_assert_not_null(strstr(PQerrorMessage(f.at_source), "this server has lost what this cursor has seen"));
  sql_fails(f.at_source,
            "select * from rowrelay.changes_since(format('%%s/1:1:/%%s:%%2$s:/0', split_part('%s', '/', "
            "1), 9 + pg_snapshot_xmax(pg_current_snapshot())::text::bigint))",
            cursor);
  cr_assert_not_null(strstr(PQerrorMessage(f.at_source), "this server has lost what this cursor has seen"));
  /* in one transaction all is read that it sees, and nothing else */
  PGconn *reader = connect_to(f.source, NULL);
  sql(reader, "begin isolation level repeatable read; select");
  cr_assert_str_eq(read_some(reader, 10), "");
  sql(f.at_source, "insert into item values (4)");
  cr_assert_str_eq(read_some(reader, 10), "");
  sql(reader, "commit");
  cr_assert_str_eq(read_some(reader, 10), "i4 ");
  PQfinish(reader);
  fixture_end(&f);
}

/* As after a crash, and with a table of which there is little in a large log. */
Test(cursor, reads_over_ids_that_were_never_used_and_changes_that_are_not_asked_for) {
  begin("cursor_gaps");
  sql(f.at_source, "create table note (id int primary key); select rowrelay.capture_table('note')");
  sql(f.at_source, "insert into note values (1)");
  sql(f.at_source, "select setval('rowrelay.change_id', rowrelay.last_change_id() + 10000000000000)");
  sql(f.at_source, "insert into item select i from generate_series(1, 9000) i");
  sql(f.at_source, "insert into note values (2)");
  sql(f.at_source, "select setval('rowrelay.change_id', rowrelay.last_change_id() + 10000000000000)");
  sql(f.at_source, "insert into note values (3)");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(key, ' ' order by change_id) "
                                    "from rowrelay.changes_since('', 10, '{note}')"),
                   "1 2 3");
  cr_assert_str_eq(ask(f.at_source, "select count(*), count(next_cursor) from rowrelay.changes_since('', 9003)"),
                   "9003");
  cr_assert_str_eq(read_some(f.at_source, 2), "i1 i1 ");
  cr_assert_str_eq(read_some(f.at_source, 2), "i2 i3 ");
  fixture_end(&f);
}

/* Reads pieces of random size until there is nothing, and notes them in a table of the consumer. */
static void read_into_table(PGconn *consumer, struct dice *dice) {
  for (bool more = true; more;) {
    PGresult *rows = ask_since(consumer, cursor, roll(dice, 40));
    cr_assert(PQresultStatus(rows) == PGRES_TUPLES_OK, "%s", PQerrorMessage(consumer));
    int last = PQntuples(rows) - 1;
    more = !PQgetisnull(rows, last, 1);
    for (int i = 0; i <= last; i++)
      if (!PQgetisnull(rows, i, 1))
        sql(f.at_target, "insert into got (id) values (%s)", PQgetvalue(rows, i, 1));
    snprintf(cursor, sizeof cursor, "%s", PQgetvalue(rows, last, 0));
    PQclear(rows);
  }
}

/* What the consumer got, and what the log has: the changes of each key in the order of ids. */
static void got_the_log(void) {
  static char got[1 << 20];
  snprintf(got, sizeof got, "%s", ask(f.at_target, "select string_agg(id::text, ' ' order by id) from got"));
  cr_assert_str_eq(got, ask(f.at_source, "select string_agg(change_id::text, ' ' order by change_id) "
                                         "from rowrelay.history"));
}

/* With ticks and without, so that it must know itself where to search. */
static void read_what_writers_write(bool ticks) {
  struct dice dice = {.state = ticks ? 11 : 12};
  struct writers writers = {0};
  fixture_begin(&f, ticks ? "cursor_ticks" : "cursor_writers");
  cursor[0] = '\0';
  writers_make_tables(f.at_source);
  sql(f.at_source, "select rowrelay.capture_table('stock'), rowrelay.capture_table('ledger')");
  writers_fill_tables(f.at_source, 40);
  sql(f.at_target, "create table got (place bigserial, id bigint primary key)");
  writers_start(&writers, f.source, 6, 900, 5, 40);
  while (!writers_are_done(&writers)) {
    read_into_table(f.at_source, &dice);
    if (ticks)
      sql(f.at_source, "select rowrelay.tick(at_once => true)");
  }
  writers_finish(&writers, 60);
  read_into_table(f.at_source, &dice);
  got_the_log();
  /* of a row, what came later has the larger id */
  sql(f.at_target, "create table key_of (id bigint primary key, key text)");
  PGresult *rows = ask_since(f.at_source, "", 1000000);
  for (int i = 0; i + 1 < PQntuples(rows); i++)
    sql(f.at_target, "insert into key_of values (%s, nullif('%s', ''))", PQgetvalue(rows, i, 1),
        PQgetvalue(rows, i, 3));
  PQclear(rows);
  cr_assert(ask_number(f.at_target,
                       "select count(*) from (select id, lag(id) over (partition by key order by place) as before "
                       "from got join key_of using (id) where key is not null) as g where before > id") == 0);
  fixture_end(&f);
}

Test(cursor, hands_out_once_what_many_writers_commit, .timeout = 120) {
  read_what_writers_write(false);
  read_what_writers_write(true);
}

Test(cursor, hands_out_nothing_that_a_crash_undoes, .timeout = 120) {
  own_server("source", "wal_writer_delay=300ms");
  begin("cursor_crash");
  struct dice dice = {.state = 13};
  sql(f.at_target, "create table got (place bigserial, id bigint primary key)");
  for (int round = 0; round < 3; round++) {
    sql(f.at_source, "set synchronous_commit to off");
    for (int n = 1; n <= 35; n++) {
      sql(f.at_source, "insert into item values (%d)", round * 100 + n);
      if (n % 10 == 0)
        read_into_table(f.at_source, &dice);
    }
    PQfinish(f.at_source);
    restart_server("source", "immediate");
    f.at_source = connect_to(f.source, NULL);
    sql(f.at_source, "insert into item values (%d)", round * 100 + 99);
    read_into_table(f.at_source, &dice);
    got_the_log();
  }
  cr_assert(ask_number(f.at_source, "select count(*) from item") < 108, "nothing was forgotten");
  fixture_end(&f);
}

Test(cursor, a_log_that_was_restored_into_another_server_is_read_from_now_on) {
  begin("cursor_restored");
  sql(f.at_source, "insert into item values (1), (2)");
  sql(f.at_source, "select rowrelay.tick(at_once => true)");
  /* The server it came from was older by some transactions, and took no tick after the last of them. */
  sql(f.at_source, "update rowrelay.change set txid = (pg_current_xact_id()::text::bigint + 20)::text::xid8");
  sql(f.at_source, "update rowrelay.tick set snapshot = format('%%s:%%1$s:', pg_current_xact_id()::text::bigint + 30)"
                   "::pg_snapshot, writers = '{}', writers_from = '{}'");
  sql_fails(f.at_source, "select * from rowrelay.changes_since('')");
  cr_assert_not_null(strstr(PQerrorMessage(f.at_source), "changes from before it was restored into this server"));
  cr_assert_not_null(strstr(PQerrorMessage(f.at_source), "Begin with 'now', and read what is older from "
                                                         "rowrelay.history"));
  snprintf(cursor, sizeof cursor, "now");
  cr_assert_str_eq(read_some(f.at_source, 10), "");
  sql(f.at_source, "insert into item values (3)");
  sql(f.at_source, "select rowrelay.tick(at_once => true)");
  for (int i = 0; i < 40; i++)
    sql(f.at_source, "select pg_current_xact_id()");
  cr_assert_str_eq(read_some(f.at_source, 10), "i3 ", "and nothing of a number that this server has come to by now");
  fixture_end(&f);
}

static void is_refused(PGconn *consumer, const char *from) {
  PGresult *rows = ask_since(consumer, from, 100);
  cr_expect_str_eq(PQresultErrorField(rows, PG_DIAG_SQLSTATE), "55000");
  cr_expect(strstr(PQresultErrorMessage(rows), "this cursor is of another source, or the log was restored since") !=
                NULL,
            "%s", PQresultErrorMessage(rows));
  PQclear(rows);
}

/* Runs the words of a shell; $bin is where PostgreSQL's programs are, $server and $source how to connect. */
static void run_shell(const char *words) {
  char command[4096];
  snprintf(
      command, sizeof command,
      "bin=$(tests/support/pg.sh bin); server='host=%s port=%s user=%s dbname=postgres'; source='%s'; target='%s'; "
      "{ %s; } >/dev/null 2>&1",
      PQhost(f.at_source), PQport(f.at_source), PQuser(f.at_source), f.source, f.target, words);
  cr_assert_eq(system(command), 0, "%s", command);
}

/* Both have had enough transactions to take the other's for their own. */
Test(cursor, of_another_source_is_refused) {
  begin("cursor_another");
  run_shell("$bin/psql -Xq -f schema/install.sql \"$target\"");
  sql(f.at_source, "insert into item values (1)");
  read_some(f.at_source, 100);
  for (int i = 0; i < 2; i++) {
    PGconn *consumer = i == 0 ? f.at_target : f.at_source;
    snprintf(cursor, sizeof cursor, "%s", "");
    read_some(i == 0 ? f.at_source : f.at_target, 100);
    while (ask_number(consumer, "select pg_current_xact_id()::text::bigint") <
           ask_number(consumer, "select split_part('%s', ':', 2)::bigint + 10", cursor))
      ;
    is_refused(consumer, cursor);
  }
  fixture_end(&f);
}

/* In the same server, whose transactions have gone on. */
Test(cursor, of_the_database_that_was_dumped_or_copied_is_refused_where_it_was_restored) {
  static const char *const WAYS[] = {
      "$bin/psql -Xqc 'create database cursor_other' \"$server\" && $bin/pg_dump \"$source\" | "
      "$bin/psql -Xq \"$server dbname=cursor_other\"",
      "$bin/psql -Xqc \"select pg_terminate_backend(pid) from pg_stat_activity where datname = 'test_cursor_dumped'\" "
      "-c "
      "'create database cursor_other template test_cursor_dumped' \"$server\""};
  char before[sizeof cursor];
  begin("cursor_dumped");
  needs_pg_dump(f.at_source);
  sql(f.at_source, "insert into item values (1)");
  read_some(f.at_source, 100);
  memcpy(before, cursor, sizeof before);
  for (size_t way = 0; way < 2; way++) {
    run_shell(WAYS[way]);
    PQreset(f.at_source);
    PGconn *restored = connect_to(f.source, "dbname=cursor_other");
    is_refused(restored, before);
    snprintf(cursor, sizeof cursor, "%s", "now");
    cr_expect_str_eq(read_some(restored, 100), "");
    sql(restored, "select rowrelay.skip_lost_ids(is_here => true)");
    is_refused(restored, before);
    sql(restored, "insert into item values (2)");
    cr_expect_str_eq(read_some(restored, 100), "i2 ");
    is_refused(f.at_source, cursor);
    PQfinish(restored);
    sql(f.at_source, "drop database cursor_other with (force)");
  }
  memcpy(cursor, before, sizeof cursor);
  sql(f.at_source, "insert into item values (3)");
  cr_expect_str_eq(read_some(f.at_source, 100), "i3 ");
  fixture_end(&f);
}

/* ---- files that are put back --------------------------------------------------------------------------------------
 */

static void stop_source(void) {
  PQfinish(f.at_source);
  f.at_source = NULL;
  stop_server("source", "fast");
}

static void start_source(void) {
  start_server("source");
  f.at_source = connect_to(f.source, NULL);
}

/* Rows from..to in transactions of their own. */
static void insert_items(int from, int to) {
  for (int n = from; n <= to; n++)
    sql(f.at_source, "insert into item values (%d)", n);
}

static void note_start(void) {
  sql(f.at_source, "select rowrelay.skip_lost_ids()"); /* as each process does first */
}

/* Nothing in them tells that the server went on after the copy, under the same timeline. */
static void put_copy_back_and_write(void) {
  stop_source();
  in_source_directory("rm -rf data && cp -a copy data");
  start_source();
  note_start();
  insert_items(100, 139); /* more transactions than were lost */
}

static void may_have_lost(const char *from) {
  PGresult *rows = ask_since(f.at_source, from, 100);
  cr_expect_str_eq(PQresultErrorField(rows, PG_DIAG_SQLSTATE), "55000");
  cr_expect(strstr(PQresultErrorMessage(rows), "it is not known how much of what this cursor has seen") != NULL, "%s",
            PQresultErrorMessage(rows));
  PQclear(rows);
}

Test(cursor, of_a_start_that_the_files_that_were_put_back_know_nothing_of_is_refused) {
  own_server("source", NULL);
  begin("cursor_put_back");
  insert_items(1, 3);
  note_start();
  sql(f.at_source, "select rowrelay.tick(at_once => true)");
  cr_assert_str_eq(read_some(f.at_source, 100), "i1 i2 i3 ");
  stop_source();
  in_source_directory("cp -a data copy");
  start_source();
  note_start();
  insert_items(4, 9);
  cr_assert_str_eq(read_some(f.at_source, 100), "i4 i5 i6 i7 i8 i9 ");
  put_copy_back_and_write();
  may_have_lost(cursor);
  fixture_end(&f);
}

/* A copy of the running server; with a tick before it, or without. */
static void roll_back_beneath(const char *name, bool ticks) {
  own_server("source", NULL);
  begin(name);
  insert_items(1, 3);
  note_start();
  cr_assert_str_eq(read_some(f.at_source, 100), "i1 i2 i3 ");
  if (ticks)
    sql(f.at_source, "select rowrelay.tick(at_once => true)");
  insert_items(4, 4);
  cr_assert_str_eq(read_some(f.at_source, 100), "i4 ");
  sql(f.at_source, "checkpoint");
  in_source_directory("{ cp -a data copy; rm copy/postmaster.pid; }"); /* files for a moment may be gone */
}

Test(cursor, beneath_which_files_were_put_back_goes_on_from_the_last_tick_in_them_and_misses_nothing) {
  char early[sizeof cursor];
  roll_back_beneath("cursor_beneath", true);
  memcpy(early, cursor, sizeof early);
  insert_items(5, 14);
  cr_assert_str_eq(read_some(f.at_source, 3), "i5 i6 i7 ");
  put_copy_back_and_write();
  const char *words = read_some(f.at_source, 100);
  cr_expect(strncmp(words, "i4 i100 i101 ", 13) == 0, "%s", words);
  cr_expect(strstr(words, "i138 i139 ") != NULL, "%s", words);
  cr_expect_str_eq(read_some(f.at_source, 100), "");
  memcpy(cursor, early, sizeof early);
  words = read_some(f.at_source, 100);
  cr_expect(strncmp(words, "i100 i101 ", 10) == 0, "who has seen nothing that is lost gets nothing twice: %s", words);
  fixture_end(&f);
}

Test(cursor, beneath_which_files_without_a_tick_were_put_back_is_refused) {
  roll_back_beneath("cursor_tickless", false);
  insert_items(5, 14);
  cr_assert_str_eq(read_some(f.at_source, 3), "i5 i6 i7 ");
  put_copy_back_and_write();
  may_have_lost(cursor);
  fixture_end(&f);
}

/* A cursor as it was before it named the server's start. */
static void forget_start(char *given) {
  char *first = strchr(given, '.');
  char *second = first != NULL ? strchr(first + 1, '.') : NULL;
  cr_assert(second != NULL, "%s", given);
  const char *rest = strchr(second, '/');
  memmove(second, rest, strlen(rest) + 1);
}

/* Some of the starts are noted by a process, others by nobody. */
Test(cursor, of_any_form_goes_on_over_restarts_without_a_repeat) {
  char unnamed[sizeof cursor];
  own_server("source", NULL);
  begin("cursor_restarts");
  snprintf(unnamed, sizeof unnamed, "%s", "");
  for (int round = 1; round <= 6; round++) {
    char expected[64];
    char named[sizeof cursor];
    insert_items(10 * round, 10 * round + 2);
    snprintf(expected, sizeof expected, "i%d i%d ", 10 * round, 10 * round + 1);
    cr_expect_str_eq(read_some(f.at_source, 2), expected, "%s", cursor);
    memcpy(named, cursor, sizeof named);
    memcpy(cursor, unnamed, sizeof cursor);
    cr_expect_str_eq(read_some(f.at_source, 2), expected, "%s", cursor);
    memcpy(unnamed, cursor, sizeof unnamed);
    forget_start(unnamed);
    PQfinish(f.at_source);
    restart_server("source", round % 2 == 0 ? "fast" : "immediate");
    f.at_source = connect_to(f.source, NULL);
    if (round == 2 || round == 5)
      note_start();
    snprintf(expected, sizeof expected, "i%d ", 10 * round + 2);
    memcpy(cursor, unnamed, sizeof cursor);
    cr_expect_str_eq(read_some(f.at_source, 100), expected, "%s", cursor);
    memcpy(unnamed, cursor, sizeof unnamed);
    forget_start(unnamed);
    memcpy(cursor, named, sizeof cursor);
    cr_expect_str_eq(read_some(f.at_source, 100), expected, "%s", cursor);
    if (round == 4)
      note_start();
  }
  fixture_end(&f);
}

/* What is older than 30 days, which is all that was written today, is dropped. */
static void let_it_go(int days_ago) {
  past_move(f.at_source, days_ago);
  past_close(f.at_source);
  sql(f.at_source, "select rowrelay.prune('30 days')");
}

/* A cursor behind which something of the log was dropped that it has not handed out. */
static void has_lost(const char *from) {
  PGresult *rows = ask_since(f.at_source, from, 100);
  cr_expect_str_eq(PQresultErrorField(rows, PG_DIAG_SQLSTATE), "55000");
  cr_expect(strstr(PQresultErrorMessage(rows), "changes behind this cursor are no longer in the log") != NULL);
  PQclear(rows);
}

Test(cursor, tells_who_comes_too_late_that_changes_were_dropped) {
  char early[sizeof cursor];
  char halfway[sizeof cursor];
  begin("cursor_dropped");
  sql(f.at_source, "insert into item values (1)");
  cr_assert_str_eq(read_some(f.at_source, 100), "i1 ");
  memcpy(early, cursor, sizeof early);
  sql(f.at_source, "insert into item values (2), (3)");
  cr_assert_str_eq(read_some(f.at_source, 1), "i2 ");
  memcpy(halfway, cursor, sizeof halfway);
  cr_assert_str_eq(read_some(f.at_source, 100), "i3 ");
  sql(f.at_source, "select rowrelay.tick(at_once => true)"); /* as processes do */
  sql(f.at_source, "select pg_current_xact_id()");
  cr_assert_str_eq(read_some(f.at_source, 100), "");
  let_it_go(40);
  sql(f.at_source, "insert into item values (4), (5)");
  has_lost(early);
  has_lost(halfway);
  cr_assert_str_eq(read_some(f.at_source, 100), "i4 i5 ", "who has read all goes on");
  /* from the beginning is what is left, unless that goes meanwhile */
  cursor[0] = '\0';
  cr_assert_str_eq(read_some(f.at_source, 1), "i4 ");
  memcpy(halfway, cursor, sizeof halfway);
  cr_assert_str_eq(read_some(f.at_source, 1), "i5 ");
  let_it_go(35);
  has_lost(halfway);
  fixture_end(&f);
}

Test(cursor, tells_of_dropped_changes_of_the_tables_that_are_asked_for) {
  char before[sizeof cursor];
  begin("cursor_deleted");
  sql(f.at_source, "create table note (id int primary key); select rowrelay.capture_table('note')");
  sql(f.at_source, "insert into item values (1)");
  cr_assert_str_eq(read_some(f.at_source, 100), "i1 ");
  memcpy(before, cursor, sizeof before);
  sql(f.at_source, "insert into item values (2); insert into note values (3)");
  past_move(f.at_source, 40);
  past_close(f.at_source);
  sql(f.at_source, "select rowrelay.keep('30 days', '{note}')");
  sql(f.at_source, "select rowrelay.prune(); select rowrelay.prune()");
  has_lost(before);
  cr_assert_str_eq(
      ask(f.at_source, "select string_agg(key, ' ') from rowrelay.changes_since('%s', 10, '{item}')", before), "2");
  sql_fails(f.at_source, "select * from rowrelay.changes_since('%s', 10, '{note}')", before);
  fixture_end(&f);
}

Test(cursor, hands_out_what_the_reader_may_read) {
  struct shop s;
  people_begin(&s, "cursor_reader");
  sql(s.as_app, "insert into shop.item values (71)");
  sql(s.as_app, "insert into shop.secret values (72)");
  cr_assert_str_eq(ask(s.as_anna, "select string_agg(distinct relation::text, ' ') from rowrelay.changes_since('')"),
                   "shop.item");
  cr_assert_str_eq(sql_fails(s.as_anna, "select * from rowrelay.changes_since('', 10, '{shop.item,shop.secret}')"),
                   "42501");
  cr_assert_not_null(strstr(PQerrorMessage(s.as_anna), "grant select on shop.secret to anna"));
  const char *item = ask(s.as_anna, "select 'shop.item'::regclass::oid");
  sql(s.fixture.at_source, "drop table shop.item cascade");
  cr_assert_str_eq(sql_fails(s.as_anna, "select * from rowrelay.changes_since('', 10, '{%s}')", item), "42P01");
  people_end(&s);
}
