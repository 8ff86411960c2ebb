/* A target with one lane gets whole transactions: whoever reads it never sees half of one. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "arrival.h"
#include "fixture.h"
#include "writers.h"

#define WRITERS 6
#define PROCESSES 2

static void begin(struct fixture *f, const char *name, const char *mode) {
  fixture_begin(f, name);
  sql(f->at_source, "create table account (id int primary key, n int); create table entry (id int primary key, n int)");
  char option[32];
  snprintf(option, sizeof option, "mode=%s", mode);
  rowrelay_ok(f, "target", "add", "w", f->target_url, "--option", "lanes=1", "--option", option, NULL);
  rowrelay_ok(f, "capture", "account", "entry", "--to", "w", strcmp(mode, "mirror") == 0 ? "--create" : NULL, NULL);
}

/* Table scratch, whose truncates and rows stand between the changes of others. */
static void add_scratch(struct fixture *f, bool create) {
  sql(f->at_source, "create table scratch (id int primary key)");
  rowrelay_ok(f, "capture", "scratch", "--to", "w", create ? "--create" : NULL, NULL);
}

/* Which changes came in each batch: "insert 1, insert 2; delete 1" */
static const char *batches(struct fixture *f) {
  return ask(f->at_source,
             "select string_agg(changes, '; ' order by token) from ("
             "  select r.token, string_agg(h.op || ' ' || coalesce(h.key, '-'), ', ' order by h.change_id) as changes"
             "    from rowrelay.receipt r join rowrelay.history h on h.change_id = any (r.change_ids) group by r.token"
             ") as b");
}

/* How many transactions came in more than one batch, but for those that truncated a table. */
static int64_t torn_transactions(struct fixture *f) {
  return ask_number(
      f->at_source,
      "select count(*) from ("
      "  select from rowrelay.receipt r"
      "    join rowrelay.history h on h.change_id = any (r.change_ids)"
      "   group by h.txid having count(distinct r.token) > 1 and not bool_or(h.op = 'truncate')) as torn");
}

/* Money moves from one account to another, with two entries for it. */
static PGconn *move_money(struct fixture *f, int writer) {
  PGconn *connection = connect_to(f->source, NULL);
  start(connection,
        "do $$ begin for i in 1 .. 150 loop "
        "  insert into entry values (%d + 2 * i, i);"
        "  perform pg_sleep(random() * 0.003);"
        "  update account set n = n - i where id = %d;"
        "  perform pg_sleep(random() * 0.003);"
        "  update account set n = n + i where id = %d + i %% 10;"
        "  insert into entry values (%d + 2 * i + 1, -i);"
        "  commit; "
        "end loop; end $$",
        1000 * (writer + 1), writer + 1, 10, 1000 * (writer + 1));
  return connection;
}

Test(transactions, a_reader_of_the_target_never_sees_half_of_one) {
  struct fixture f;
  PGconn *writers[WRITERS];
  pid_t processes[PROCESSES];
  begin(&f, "whole", "mirror");
  add_scratch(&f, true);
  sql(f.at_source,
      "insert into account select n, 100 from generate_series(1, 20) as n; insert into entry values (0, 0)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  rowrelay_ok(&f, "target", "set", "w", "--option", "batch_rows=12", NULL);
  for (int i = 0; i < PROCESSES; i++)
    processes[i] = fixture_run(&f, "--workers", "2", NULL);

  for (int i = 0; i < WRITERS; i++)
    writers[i] = move_money(&f, i);
  PGconn *truncates = connect_to(f.source, NULL);
  start(truncates, "do $$ begin for i in 1 .. 100 loop "
                   "  insert into scratch values (i), (-i); commit; perform pg_sleep(random() * 0.01);"
                   "  truncate scratch; insert into scratch values (i); commit; perform pg_sleep(random() * 0.005);"
                   "  delete from scratch; commit; "
                   "end loop; end $$");
  int64_t looks = 0;
  bool writing = true;
  while (writing || ask_number(f.at_source, "select count(*) from rowrelay.queue") > 0) {
    writing = is_running(truncates);
    for (int i = 0; i < WRITERS; i++)
      writing = is_running(writers[i]) || writing;
    cr_assert(strcmp(ask(f.at_target, "select (select sum(n) from account) || ' ' || (select sum(n) from entry)"),
                     "2000 0") == 0,
              "half of a transaction can be seen: %s after %lld looks",
              ask(f.at_target, "select (select sum(n) from account) || ' ' || (select sum(n) from entry)"),
              (long long)looks);
    looks++;
  }
  for (int i = 0; i < WRITERS; i++) {
    finish(writers[i]);
    PQfinish(writers[i]);
  }
  finish(truncates);
  PQfinish(truncates);

  wait_until_empty(&f, 20);
  same_rows(&f, "account", "account", "id");
  same_rows(&f, "entry", "entry", "id");
  same_rows(&f, "scratch", "scratch", "id");
  cr_expect(torn_transactions(&f) == 0);
  cr_expect(ask_number(f.at_source, "select max(cardinality(change_ids)) from rowrelay.receipt where settled_at > "
                                    "(select min(settled_at) from rowrelay.receipt)") <= 12);
  cr_expect(looks > 100);
  for (int i = 0; i < PROCESSES; i++)
    cr_assert(stop_process(processes[i], SIGTERM) == 0);
  fixture_end(&f);
}

Test(transactions, neither_a_truncate_nor_a_new_capture_divides_one) {
  struct fixture f;
  begin(&f, "whole_barrier", "append");
  add_scratch(&f, false);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  sql(f.at_source, "delete from rowrelay.receipt");
  PGconn *other = connect_to(f.source, NULL);
  sql(f.at_source, "insert into scratch values (1)");
  sql(other, "begin; insert into account values (1, 0)");
  sql(f.at_source, "truncate scratch");
  sql(other, "insert into account values (2, 0)");
  sql(f.at_source, "begin; insert into scratch values (2); truncate scratch; insert into scratch values (3); commit");
  sql(other, "insert into account values (3, 0)");
  rowrelay_ok(&f, "capture", "scratch", "--key", "id", "--lane", "id", "--to", "w", NULL);
  sql(f.at_source, "insert into scratch values (4)");
  sql(other, "insert into account values (4, 0); commit");
  sql(f.at_source, "delete from scratch where id = 3");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_expect_str_eq(batches(&f), "insert 1; truncate -; insert 2; truncate -; "
                                "insert 1, insert 2, insert 3, insert 3, insert 4, insert 4, delete 3");
  PQfinish(other);
  fixture_end(&f);
}

Test(transactions, one_that_ends_later_waits_and_others_go_on) {
  struct fixture f;
  begin(&f, "whole_late", "append");
  rowrelay_ok(&f, "target", "set", "w", "--option", "batch_rows=4", NULL);
  PGconn *late = connect_to(f.source, NULL);
  sql(late, "begin; insert into account values (1, 0)");
  sql(f.at_source, "insert into account values (2, 0), (3, 0), (4, 0)");
  sql(late, "insert into account values (5, 0)");
  sql(f.at_source, "update account set n = 1 where id in (2, 3)");
  sql(late, "insert into account values (6, 0); commit");
  sql(f.at_source, "update account set n = 2 where id = 1");

  rowrelay_ok(&f, "run", "--until-empty", NULL);

  cr_expect_str_eq(batches(&f), "insert 2, insert 3, insert 4; update 2, update 3; "
                                "insert 1, insert 5, insert 6, update 1");
  cr_expect_str_eq(ask(f.at_target, "select string_agg(key, ' ' order by position) from account_changes"),
                   "2 3 4 2 3 1 5 6 1");
  arrival_is_in_order(&f, "account_changes");
  PQfinish(late);
  fixture_end(&f);
}

Test(transactions, one_that_is_larger_than_a_batch_comes_in_pieces_between_whole_ones) {
  struct fixture f;
  begin(&f, "whole_large", "mirror");
  rowrelay_ok(&f, "target", "set", "w", "--option", "batch_rows=50", "--option", "batch_bytes=1024", NULL);
  PGconn *large = connect_to(f.source, NULL);
  sql(large, "begin; insert into account select n, 0 from generate_series(1, 200) as n");
  sql(f.at_source, "begin; insert into entry values (1, 1); insert into entry values (2, -1); commit");
  sql(large, "update account set n = id; commit");
  sql(f.at_source, "begin; insert into entry values (3, 1); insert into entry values (4, -1); commit");

  rowrelay_ok(&f, "run", "--until-empty", NULL);

  same_rows(&f, "account", "account", "id");
  same_rows(&f, "entry", "entry", "id");
  cr_expect(torn_transactions(&f) == 1);
  int64_t largest = ask_number(f.at_source, "select max(cardinality(change_ids)) from rowrelay.receipt");
  cr_expect(largest > 20 && largest <= 50, "the largest batch has %lld changes", (long long)largest);
  PQfinish(large);
  fixture_end(&f);
}

/*
 * What the target refuses divides the transaction that it is of, and no other in the batch, which arrives in parts if
 * it is not known what is refused.
 */
static void refuse_beside(const char *name, const char *at_target, bool in_parts) {
  struct fixture f;
  begin(&f, name, "mirror");
  sql(f.at_source, "create table other (id int primary key, n int)");
  rowrelay_ok(&f, "capture", "other", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into other values (0, 0); insert into account select n, 0 from generate_series(1, 12) as n");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  sql(f.at_target, "%s", at_target);
  rowrelay_ok(&f, "target", "set", "w", "--option", "retries=0", NULL);
  PGconn *long_one = connect_to(f.source, NULL);
  sql(long_one, "begin; update account set n = 1 where id = 11");
  sql(f.at_source, "begin; update account set n = 1 where id in (1, 2, 3); insert into entry values (1, 1); commit;"
                   "begin; update account set n = 1 where id in (4, 5); insert into other values (1, 1); commit;"
                   "begin; insert into entry values (2, 1); update account set n = 1 where id in (6, 7, 8); commit");
  sql(long_one, "update account set n = 1 where id = 12; commit");

  rowrelay_ok(&f, "run", "--until-empty", NULL);

  same_rows(&f, "account", "account", "id");
  cr_expect_str_eq(ask(f.at_target, "select string_agg(ids, '; ' order by ids) from ("
                                    "select string_agg(id::text, ' ' order by id) as ids from account "
                                    "where n = 1 group by xmin::text, id < 4, id between 6 and 8, id > 10) as t "
                                    "where ids not in ('4', '5', '4 5')"),
                   "1 2 3; 11 12; 6 7 8");
  cr_expect_eq(ask_number(f.at_target, "select count(distinct xmin::text) from account where n = 1") > 1, in_parts);
  PQfinish(long_one);
  fixture_end(&f);
}

Test(transactions, none_is_divided_where_another_is_refused) {
  refuse_beside("whole_refused", "alter table other add check (n <> 1)", true);
}

Test(transactions, none_is_divided_by_a_table_that_cannot_be_written) {
  refuse_beside("whole_table",
                "create function no() returns trigger language plpgsql as "
                "$$ begin raise exception 'no' using errcode = 'undefined_table'; end $$;"
                "create trigger no before insert on other for each row execute function no()",
                false);
}

/* The source loses a settled batch in a crash, and then delivers another one before it. */
/* Looks at the target until nothing is queued: how often the two rows that one transaction sets differ. */
static int64_t differences(struct fixture *f) {
  int64_t count = 0;
  while (ask_number(f->at_source, "select count(*) from rowrelay.queue") > 0)
    count +=
        ask_number(f->at_target, "select count(*) from account a, entry e where a.id = 1 and e.id = 1 and a.n <> e.n");
  return count;
}

/* What the target cannot take of it is known before anything is sent. */
Test(transactions, what_is_left_of_one_arrives_at_once_where_one_of_its_rows_is_refused) {
  struct fixture f;
  begin(&f, "whole_rest", "mirror");
  sql(f.at_source, "insert into account select n, 0 from generate_series(1, 9) as n; insert into entry values (0, 0)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  sql(f.at_source, "alter table entry add extra int");
  sql(f.at_source, "begin; update account set n = 1 where id < 3; insert into entry values (1, 1, 1), (2, 2, 2);"
                   "update account set n = 2 where id between 3 and 4; update entry set n = 5 where id = 1;"
                   "update account set n = 3 where id > 4; commit");
  sql(f.at_source, "alter table entry drop extra, add later int; insert into entry values (3, 3)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(key || state, ' ' order by change_id) from rowrelay.errors"),
                   "1error 2error 1error");
  cr_assert_str_eq(ask(f.at_target, "select concat(count(*), ' ', count(distinct xmin::text)) from account"), "9 1");
  cr_assert_str_eq(ask(f.at_target, "select string_agg(id::text, ' ' order by id) from entry"), "0 3");
  fixture_end(&f);
}

Test(transactions, none_is_divided_while_a_row_of_another_is_tried_again) {
  struct fixture f;
  begin(&f, "whole_behind", "mirror");
  sql(f.at_source, "insert into account values (1, 1); insert into entry values (1, 1)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  sql(f.at_target, "alter table account add check (n <> 13)");
  sql(f.at_source, "insert into account values (9, 13)");
  sql(f.at_source, "update account set n = 13 where id = 1");
  sql(f.at_source, "begin; update account set n = 2 where id = 1; update entry set n = 2 where id = 1; commit");
  pid_t process = fixture_run(&f, NULL, NULL);
  cr_expect_eq(differences(&f), 0);
  cr_assert_str_eq(ask(f.at_target, "select a.n || ' ' || e.n from account a, entry e where a.id = 1"), "2 2");
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  fixture_end(&f);
}

Test(transactions, none_is_divided_because_a_row_is_locked_at_the_target_for_a_while) {
  struct fixture f;
  begin(&f, "whole_locked", "mirror");
  rowrelay_ok(&f, "target", "set", "w", "--option", "push_timeout=5", NULL);
  sql(f.at_source, "insert into account values (1, 1); insert into entry values (1, 1)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  PGconn *locker = connect_to(f.target, NULL);
  start(locker, "begin; select from entry for update; select pg_sleep(1.5); commit");
  wait_until(f.at_target, "1", 10, "select count(*) from pg_stat_activity where wait_event = 'PgSleep'");
  sql(f.at_source, "begin; update account set n = 2 where id = 1; update entry set n = 2 where id = 1; commit");
  pid_t process = fixture_run(&f, NULL, NULL);
  cr_expect_eq(differences(&f), 0);
  finish(locker);
  PQfinish(locker);
  cr_assert_str_eq(ask(f.at_target, "select a.n || ' ' || e.n from account a, entry e"), "2 2");
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  fixture_end(&f);
}

Test(transactions, rows_without_a_key_that_are_pushed_twice_are_not_there_twice) {
  struct fixture f;
  begin(&f, "whole_twice", "mirror");
  sql(f.at_source, "create table note (what text)");
  rowrelay_ok(&f, "capture", "note", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into note values ('old')");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  rowrelay_ok(&f, "target", "set", "w", "--option", "batch_rows=3", NULL);
  PGconn *outer = connect_to(f.source, NULL);
  PGconn *inner = connect_to(f.source, NULL);
  sql(outer, "begin; insert into note values ('outer')");
  sql(inner, "begin; insert into note values ('inner'); insert into note values ('inner')");
  sql(outer, "insert into note values ('outer'); commit");
  sql(f.at_source,
      "create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$; "
      "create trigger refuse before insert on rowrelay.receipt for each row execute function refuse()");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_until(f.at_target, "2", 10, "select count(*) from note where what = 'outer'");

  /* Lanes before tables, as the process locks them. */
  sql(f.at_source, "begin; select rowrelay.pause('w'); drop trigger refuse on rowrelay.receipt; commit");
  sql(inner, "commit");
  sql(f.at_source, "select rowrelay.resume('w')");
  wait_until_empty(&f, 20);

  cr_expect_str_eq(ask(f.at_target, "select string_agg(what, ' ' order by what) from note"),
                   "inner inner old outer outer");
  cr_expect_str_eq(batches(&f), "insert -; insert -, insert -; insert -, insert -");
  cr_assert(stop_process(process, SIGTERM) == 0);
  PQfinish(outer);
  PQfinish(inner);
  fixture_end(&f);
}

Test(transactions, a_row_that_would_move_to_another_lane_does_not_divide_one) {
  struct fixture f;
  begin(&f, "whole_moves", "mirror");
  sql(f.at_source, "create table order_line (id int primary key, order_id int)");
  rowrelay_ok(&f, "capture", "order_line", "--to", "w", "--create", "--lane", "order_id", NULL);
  sql(f.at_source, "insert into order_line values (1, 1)");
  sql(f.at_source, "begin; insert into account values (1, 0); update order_line set order_id = 2;"
                   "insert into entry values (2, 0); commit");

  rowrelay_ok(&f, "run", "--until-empty", NULL);

  cr_expect_str_eq(batches(&f), "insert 1, insert 1, update 1, insert 2");
  same_rows(&f, "order_line", "order_line", "id");
  fixture_end(&f);
}

Test(transactions, of_each_key_the_changes_arrive_once_and_in_order_while_processes_are_killed) {
  struct fixture f;
  struct writers writers;
  pid_t processes[PROCESSES];
  fixture_begin(&f, "whole_order");
  writers_make_tables(f.at_source);
  rowrelay_ok(&f, "target", "add", "a", f.target_url, "-o", "lanes=1", "-o", "batch_rows=40", "-o", "mode=append",
              NULL);
  rowrelay_ok(&f, "target", "add", "m", f.target_url, "-o", "lanes=1", "-o", "batch_rows=40", NULL);
  rowrelay_ok(&f, "capture", "stock", "ledger", "--to", "a", NULL);
  rowrelay_ok(&f, "route", "stock", "m", "--create", NULL);
  rowrelay_ok(&f, "route", "ledger", "m", "--create", NULL);
  writers_fill_tables(f.at_source, 500);
  for (int i = 0; i < PROCESSES; i++)
    processes[i] = fixture_run(&f, "--workers", "2", NULL);

  writers_start(&writers, f.source, 8, 3000, 20, 500);
  int killed = 0;
  do {
    sleep_seconds(0.3);
    int victim = killed++ % PROCESSES;
    cr_assert(stop_process(processes[victim], SIGKILL) == 128 + SIGKILL);
    processes[victim] = fixture_run(&f, "--workers", "2", NULL);
  } while (!writers_are_done(&writers));

  wait_until_empty(&f, 60);
  arrival_is_in_order(&f, "stock_changes");
  arrival_is_complete(&f, "stock", "stock_changes");
  arrival_is_complete(&f, "ledger", "ledger_changes");
  same_rows(&f, "stock", "stock", "id");
  same_rows(&f, "ledger", "ledger", "what, n");
  for (int i = 0; i < PROCESSES; i++)
    cr_assert(stop_process(processes[i], SIGTERM) == 0);
  fixture_end(&f);
}

/* Whether a target works again is tried with one change, but not where that would be a part of a transaction. */
Test(transactions, a_transaction_stays_whole_when_a_failed_target_is_tried_again) {
  struct fixture f;
  begin(&f, "whole_again", "mirror");
  sql(f.at_source, "insert into account values (1, 1)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  sql(f.at_target, "alter table account rename to away; create view account as select 1 as id");
  sql(f.at_source, "insert into account select n, n from generate_series(2, 20) as n");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_until(f.at_source, "t", 20, "select coalesce(max(attempts), 0) >= 2 from rowrelay.hold");
  sql(f.at_target, "drop view account; alter table away rename to account");
  wait_until_empty(&f, 60);
  cr_assert(torn_transactions(&f) == 0, "%s", batches(&f));
  stop_process(process, SIGTERM);
  fixture_end(&f);
}

/* In the cluster that a dump was restored into, transactions begin at small numbers again. */
Test(transactions, one_from_before_a_restore_and_one_of_its_number_from_after_it_are_two) {
  struct fixture f;
  begin(&f, "transactions_restored", "mirror");
  rowrelay_ok(&f, "target", "set", "w", "--option", "batch_rows=3", NULL);
  sql(f.at_source, "insert into account values (1, 1), (2, 1)");
  sql(f.at_source, "update account set n = 2 where id = 1");
  sql(f.at_source, "update rowrelay.source set restored_id = (select last_value from rowrelay.change_id)");
  sql(f.at_source, "insert into account values (3, 3)");
  sql(f.at_source,
      "update rowrelay.change set txid = (select txid from rowrelay.change where op = 'i' order by id limit 1) "
      "where id = (select max(id) from rowrelay.change)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  same_rows(&f, "account", "account", "id");
  cr_assert_str_eq(ask(f.at_target, "select n from account where id = 1"), "2");
  fixture_end(&f);
}
