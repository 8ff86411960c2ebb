/* Where the server module is installed, what somebody makes of log, queue and functions is respected. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "fixture.h"
#include "native.h"

/* What an INSERT would do there is not left out. */
Test(native, what_is_added_to_the_log_is_respected) {
  struct fixture f;
  PGconn *writer = native_item_begin(&f, "native_log");
  sql(writer, "insert into item values (1, 1)");
  sql(f.at_source, "create index on rowrelay.change (captured_at); create index on rowrelay.change (lower(key))");
  sql(writer, "insert into item values (2, 1)");
  sql(f.at_source, "alter table rowrelay.change add column noted text default 'by us'");
  sql(writer, "insert into item values (3, 1)");
  cr_assert_str_eq(ask(writer, "set enable_seqscan = off; select string_agg(key || noted, ' ' order by id) from "
                               "rowrelay.change where lower(key) in ('1', '2', '3')"),
                   "1by us 2by us 3by us");
  PQfinish(writer);
  fixture_end(&f);
}

static int warnings;

static void count_warning(void *unused, const char *text) {
  (void)unused;
  (void)text;
  warnings++;
}

/* Some indexes keep something open from row to row, since PostgreSQL 17: it is closed, as the executor would. */
Test(native, what_an_index_of_the_log_keeps_open_for_a_row_is_closed) {
  struct fixture f;
  PGconn *writer = native_item_begin(&f, "native_brin");
  sql(f.at_source, "create index on rowrelay.change using brin (captured_at);"
                   "create index on rowrelay.queue using brin (change_id)");
  sql(writer, "begin");
  int64_t before = native_written_slowly(writer);
  sql(writer, "set client_min_messages to warning");
  warnings = 0;
  PQsetNoticeProcessor(writer, count_warning, NULL);
  sql(writer, "insert into item select n, 1 from generate_series(1, 1000) as n");
  cr_assert(warnings == 0, "%d warnings", warnings);
  cr_assert(native_written_slowly(writer) == before);
  sql(writer, "commit");
  PQfinish(writer);
  fixture_end(&f);
}

/* Also what is only on the parent of the partitions, to which an INSERT is addressed. */
Test(native, what_is_added_to_the_parent_of_the_log_is_respected) {
  struct fixture f;
  native_begin(&f, "native_parent");
  sql(f.at_source,
      "create table item (id int primary key, v int); create table seen (what text);"
      "create function seen() returns trigger language plpgsql as $$ begin insert into public.seen select 'trigger ' "
      "|| key from n; return null; end $$; create domain noted as text default 'by us' not null");
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  PGconn *writer = connect_to(f.source, NULL);
  sql(writer, "insert into item values (1, 1)");
  sql(f.at_source, "create trigger t after insert on rowrelay.change referencing new table as n for each statement "
                   "execute function seen()");
  sql(writer, "insert into item values (2, 1)");
  sql(f.at_source, "drop trigger t on rowrelay.change; create rule r as on insert to rowrelay.change do also insert "
                   "into public.seen values ('rule ' || new.key)");
  sql(writer, "insert into item values (3, 1)");
  sql(f.at_source, "drop rule r on rowrelay.change; alter table rowrelay.change add column a int;"
                   "alter table only rowrelay.change alter column a set default 7");
  sql(writer, "insert into item values (4, 1)");
  sql(f.at_source, "alter table only rowrelay.change alter column a drop default;"
                   "alter table rowrelay.change add column b noted");
  sql(writer, "insert into item values (5, 1)");
  cr_assert_str_eq(ask(writer, "select string_agg(what, ' ') from seen"), "trigger 2 rule 3");
  cr_assert_str_eq(ask(writer, "select string_agg(key || coalesce(a::text, '-') || b, ' ' order by id) from "
                               "rowrelay.change"),
                   "1-by us 2-by us 3-by us 47by us 5-by us");
  sql(f.at_source, "delete from rowrelay.change; alter table rowrelay.change alter column client_addr set not null");
  cr_assert_str_eq(sql_fails(writer, "insert into item values (6, 1)"), "23502");
  sql(f.at_source, "alter table rowrelay.change alter column client_addr drop not null");
  sql(writer, "insert into item values (7, 1)");
  PQfinish(writer);
  fixture_end(&f);
}

Test(native, changes_go_into_the_partition_that_is_for_the_day) {
  struct fixture f;
  PGconn *writer = native_item_begin(&f, "native_partition");
  sql(writer, "insert into item values (1, 1)");
  sql(f.at_source,
      "do $$ declare today date := rowrelay.partition_day(); named text := to_char(today, 'YYYYMMDD'); begin "
      "execute format('alter table rowrelay.change detach partition rowrelay.change_%%s', named);"
      "execute format('alter table rowrelay.change_%%s rename to one_day', named);"
      "execute format('alter table rowrelay.change attach partition rowrelay.one_day for values from (%%L) to (%%L)', "
      "today, today + 1);"
      "execute format('create table rowrelay.change_%%s partition of rowrelay.change for values from (''1999-01-01'') "
      "to (''1999-01-02'')', named); end $$");
  sql(writer, "insert into item values (2, 1)");
  cr_assert(ask_number(writer, "select count(*) from rowrelay.change where day = rowrelay.partition_day()") == 2);
  cr_assert(ask_number(writer, "select count(*) from rowrelay.one_day") == 2);
  PQfinish(writer);
  fixture_end(&f);
}

/* Nor is a value written as what it is not. */
Test(native, a_column_of_the_log_with_another_type_is_left_to_pl_pgsql) {
  struct fixture f;
  PGconn *writer = native_item_begin(&f, "native_column");
  sql(writer, "insert into item values (1, 1)");
  sql(f.at_source, "alter table rowrelay.queue alter column bytes type numeric");
  sql(writer, "insert into item values (2, 1)");
  sql(f.at_source, "alter table rowrelay.queue alter column bytes type int");
  sql(writer, "insert into item values (3, 1)");
  cr_assert_str_eq(ask(writer, "select string_agg(key || '/' || q.bytes, ' ' order by id) from rowrelay.change c "
                               "join rowrelay.queue q on q.change_id = c.id"),
                   "1/18 2/18 3/18");
  PQfinish(writer);
  fixture_end(&f);
}

/* A table is rebuilt by a copy and a rename against bloat, for one. */
Test(native, what_takes_the_place_of_the_queue_is_written_to) {
  struct fixture f;
  PGconn *writer = native_item_begin(&f, "native_queue");
  sql(writer, "insert into item values (1, 1)");
  static const char REBUILD[] = "lock table rowrelay.queue; alter table rowrelay.queue rename to former_%d;"
                                "create table rowrelay.queue (like rowrelay.former_%d including all);"
                                "insert into rowrelay.queue select * from rowrelay.former_%d";
  sql(f.at_source, "begin");
  sql(f.at_source, REBUILD, 1, 1, 1);
  sql(f.at_source, "commit");
  sql(writer, "update item set v = 2");
  cr_assert(ask_number(writer, "select count(*) from rowrelay.queue") == 2);
  /* also while a writer waits for it */
  sql(f.at_source, "begin");
  sql(f.at_source, REBUILD, 2, 2, 2);
  start(writer, "update item set v = 3");
  wait_until_blocked(f.at_source, writer, 10);
  sql(f.at_source, "commit");
  finish(writer);
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.queue") == 3);
  sql(writer, "begin");
  int64_t before = native_written_slowly(writer);
  sql(writer, "update item set v = 4");
  cr_assert(native_written_slowly(writer) == before);
  sql(writer, "commit");
  PQfinish(writer);
  fixture_end(&f);
}

Test(native, a_function_that_is_made_anew_breaks_no_session) {
  struct fixture f;
  PGconn *writer = native_item_begin(&f, "native_function");
  sql(writer, "insert into item values (1, 1)");
  sql(f.at_source, "select setval('rowrelay.doorbell', 1000000)"); /* a process sleeps */
  sql(f.at_source,
      "create table rung (n int); drop function rowrelay.ring_doorbell(); create function rowrelay.ring_doorbell() "
      "returns void language sql as 'insert into public.rung values (1)'");
  sql(writer, "update item set v = 2");
  sql(f.at_source, "alter sequence rowrelay.doorbell rename to former; create sequence rowrelay.doorbell;"
                   "select setval('rowrelay.doorbell', 1000000); drop sequence rowrelay.former");
  sql(writer, "update item set v = 3");
  cr_assert(ask_number(writer, "select count(*) from rung") == 2);
  PQfinish(writer);
  fixture_end(&f);
}

/* As after `alter schema rowrelay owner to`: then the body writes what it may. */
Test(native, an_owner_of_the_schema_alone_is_not_trusted) {
  struct fixture f;
  native_begin(&f, "native_owner");
  sql(f.at_source, "create role native_heir; create table item (id int primary key, v int)");
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  static const char *const ALTERATIONS[] = {
      "alter schema rowrelay owner to native_heir; grant usage on schema rowrelay to current_user",
      "alter schema rowrelay owner to current_user; alter table rowrelay.queue owner to native_heir",
      "alter table rowrelay.queue owner to current_user; do $$ begin execute format('alter table %s owner to "
      "native_heir', (select p.partition from rowrelay.partition_days() p where p.day = rowrelay.partition_day())); "
      "end $$"};
  PGconn *writer = connect_to(f.source, NULL);
  for (int i = 0; i < 3; i++) {
    PGconn *session = connect_to(f.source, NULL);
    sql(f.at_source, "%s", ALTERATIONS[i]);
    PGconn *writers[] = {writer, session};
    for (int j = 0; j < 2; j++) {
      sql(writers[j], "begin");
      int64_t before = native_written_slowly(writers[j]);
      sql(writers[j], "insert into item values (%d, 1)", 10 * i + j);
      cr_assert(native_written_slowly(writers[j]) == before + 1, "%d", i);
      sql(writers[j], "commit");
    }
    PQfinish(session);
  }
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.queue") == 6);
  PQfinish(writer);
  fixture_end(&f);
  PGconn *server = connect_to(getenv("ROWRELAY_TEST_SOURCE"), NULL);
  sql(server, "drop role native_heir");
  PQfinish(server);
}
