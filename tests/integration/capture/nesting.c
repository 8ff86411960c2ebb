/*
 * Whatever nests, the last logged change of a row says what the row is: stories that a generator tells (nasty.h), with
 * a look at what comes of each (retold.h); and facts.
 *
 *     LIMIT=7200 ROWRELAY_SEEDS=5000 TEST='nesting/the_log_replayed*' tests/check.sh build build/rowrelay
 *                                               tells so many new ones, within two hours
 *     ROWRELAY_FIRST=100000 …                   begins with that one
 *     ROWRELAY_SEED=1234 …                      tells that one alone
 *     ROWRELAY_KEEP_ON=1 …                      names those that end badly, and goes on, instead of reducing the first
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "fixture.h"
#include "mirrored.h"
#include "retold.h"

#define USUAL_SEEDS 10
#define FIRST_USUAL 34000000

Test(nesting, the_log_replayed_and_a_mirror_give_the_tables_whatever_nests, .timeout = 36000) {
  struct fixture f;
  struct retold retold;
  const char *one = getenv("ROWRELAY_SEED");
  const char *many = getenv("ROWRELAY_SEEDS");
  const char *from = getenv("ROWRELAY_FIRST");
  /* Transactions are prepared, too, which other servers do not allow: no process would be woken there. */
  own_server("source", "max_prepared_transactions=20");
  fixture_begin(&f, "nesting_replay");
  retold_begin(&retold, &f);
  if (one != NULL) {
    retold_tell(&retold, (unsigned int)strtoul(one, NULL, 10));
  } else {
    unsigned int first = from != NULL   ? (unsigned int)strtoul(from, NULL, 10)
                         : many == NULL ? FIRST_USUAL
                                        : (unsigned int)time(NULL);
    unsigned int count = many == NULL ? USUAL_SEEDS : (unsigned int)strtoul(many, NULL, 10);
    for (unsigned int i = 0; i < count; i++)
      retold_tell(&retold, first + i);
    if (many != NULL)
      fprintf(stderr, "seeds %u … %u: %d deliveries in %.1f s, %d transactions undone, %d not; %d stories with a gap\n",
              first, first + count - 1, retold.delivered, retold.seconds, retold.undone, retold.refused,
              retold.unjudged);
  }
  retold_end(&retold);
  fixture_end(&f);
}

/* ---- facts --------------------------------------------------------------------------------------------------------
 */

/* The source and its mirror have the same rows, though every change travelled alone; and so says the log replayed. */
static void same_though_one_by_one(struct fixture *f, const char *table) {
  rowrelay_ok(f, "target", "set", "w", "--option", "batch_rows=1", NULL);
  mirrored_same(f, table);
  cr_assert_str_eq(ask(f->at_source, "select replay.check()"), "");
}

static void begin_facts(struct fixture *f, const char *name, const char *script) {
  mirrored_begin(f, name, script);
  replay_begin(f->at_source);
}

/* Of the judge: gaps are listed also where nothing was written meanwhile. */
Test(nesting, a_gap_excuses_what_a_child_lacks_and_nothing_else) {
  struct fixture f;
  begin_facts(&f, "nesting_gap",
              "create table cut (id int primary key, n int); create table parent (id int primary key, n int);");
  mirrored_capture(&f, "cut");
  mirrored_capture(&f, "parent");
  sql(f.at_source,
      "alter table cut disable trigger user; alter table cut enable trigger user; select from rowrelay.maintain();"
      "create table child () inherits (parent); insert into child values (1, 1)");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(relation_name, ' ') from rowrelay.gaps"), "public.cut");
  cr_assert_str_eq(ask(f.at_source, "select replay.check()"), "");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(relation::regclass::text, ' ') from replay.unknown"), "parent");
  sql(f.at_source, "begin; set local rowrelay.skip = on; insert into cut values (7, 1); commit");
  cr_assert_str_eq(ask(f.at_source, "select replay.check()"), "table cut: only in the table: {\"n\": 1, \"id\": 7}");
  fixture_end(&f);
}

Test(nesting, what_a_trigger_before_an_insert_does_to_the_row_is_logged_last) {
  struct fixture f;
  begin_facts(
      &f, "nesting_before",
      "create table tally (id int primary key, n int);"
      "create function tally() returns trigger language plpgsql as $$ begin"
      "  update tally set n = n + new.n where id = new.id; if found then return null; end if; return new; end $$;"
      "create trigger tally before insert on tally for each row execute function tally();"
      "create table address (id int primary key, customer int, is_default bool);"
      "create function only_default() returns trigger language plpgsql as $$ begin"
      "  if new.is_default then update address set is_default = false where customer = new.customer and id <> new.id "
      "and is_default; end if; return new; end $$;"
      "create trigger only_default before insert or update on address for each row execute function only_default()");
  mirrored_capture(&f, "tally");
  mirrored_capture(&f, "address");
  sql(f.at_source, "insert into tally values (1, 1), (1, 2), (1, 4)");
  sql(f.at_source, "insert into address select n, 1, true from generate_series(1, 5) as n");
  same_though_one_by_one(&f, "tally");
  cr_assert_str_eq(ask(f.at_target, "select n from tally"), "7");
  same_though_one_by_one(&f, "address");
  fixture_end(&f);
}

Test(nesting, what_a_function_in_a_statement_does_to_its_rows_is_logged_last) {
  struct fixture f;
  begin_facts(&f, "nesting_function",
              "create table item (id int primary key, n int);"
              "create function bump(i int) returns int language plpgsql as $$ begin"
              "  update item set n = n + 100 where id < i; return i; end $$;"
              "create function lose(i int) returns int language plpgsql as $$ begin"
              "  delete from item where id = i - 1; return i; end $$");
  mirrored_capture(&f, "item");
  sql(f.at_source, "insert into item select bump(i), 0 from generate_series(1, 5) as i");
  same_though_one_by_one(&f, "item");
  sql(f.at_source, "insert into item select lose(i), 0 from generate_series(11, 15) as i");
  same_though_one_by_one(&f, "item");
  /* a rolled-back write does not count as a follower */
  sql(f.at_source,
      "create function undone(i int) returns int language plpgsql as $$ begin"
      "  begin delete from item where id = i - 1; raise exception 'no'; exception when others then null; end;"
      "  return i; end $$;"
      "insert into item select undone(i), 0 from generate_series(21, 25) as i");
  same_though_one_by_one(&f, "item");
  cr_assert_str_eq(ask(f.at_target, "select string_agg(id::text, ' ' order by id) from item where id > 20"),
                   "21 22 23 24 25");
  fixture_end(&f);
}

Test(nesting, a_cascade_and_a_trigger_of_the_parent_leave_the_childs_last_state) {
  struct fixture f;
  begin_facts(&f, "nesting_cascade",
              "create table parent (id int primary key);"
              "create table child (id int primary key, parent int references parent on delete set null, n int);"
              "create function note() returns trigger language plpgsql as $$ begin"
              "  update child set n = n + 1 where parent is null; return null; end $$;"
              "create trigger zz after delete on parent for each row execute function note()");
  mirrored_capture(&f, "child");
  sql(f.at_source, "insert into parent select generate_series(1, 3);"
                   "insert into child select i, 1 + i %% 3, 0 from generate_series(1, 9) as i");
  sql(f.at_source, "delete from parent");
  same_though_one_by_one(&f, "child");
  fixture_end(&f);
}

Test(nesting, a_row_that_leaves_a_filter_leaves_the_mirror_whatever_triggers_there_are) {
  struct fixture f;
  begin_facts(&f, "nesting_filter",
              "create table ticket (id int primary key, status text); create table audit (what text);"
              "create function audit() returns trigger language plpgsql as $$ begin"
              "  insert into audit values (tg_op); return null; end $$;"
              "create trigger audit after insert or update or delete on ticket for each row execute function audit();"
              "create function reopen() returns trigger language plpgsql as $$ begin"
              "  update ticket set status = 'open' where id = new.id + 1 and status = 'shut'; return null; end $$;"
              "create trigger reopen after update on ticket for each row when (new.status = 'shut' and new.id = 4) "
              "execute function reopen()");
  rowrelay_ok(&f, "capture", "ticket", "--where", "status = 'open'", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into ticket select i, 'open' from generate_series(1, 6) as i");
  sql(f.at_source, "update ticket set status = 'done' where id = 2");
  sql(f.at_source, "update ticket set status = 'shut' where id >= 4");
  mirrored_deliver(&f);
  cr_assert_str_eq(ask(f.at_target, "select string_agg(id::text, ' ' order by id) from ticket"), "1 3 5");
  cr_assert_str_eq(ask(f.at_source, "select replay.check()"), "");
  fixture_end(&f);
}

Test(nesting, a_key_that_somebody_else_has_by_now_is_not_deleted) {
  struct fixture f;
  begin_facts(&f, "nesting_rekey",
              "create table rk (id int primary key, n int); create table rn (id int primary key, n int);"
              "insert into rk values (1, 1), (2, 2), (3, 3); insert into rn select * from rk;"
              "create function fill() returns trigger language plpgsql as $$ begin"
              "  if new.id = 10 then insert into rk values (2, 0) on conflict do nothing; end if; return null; end $$;"
              "create trigger fill after update on rk for each row execute function fill();"
              "create function back() returns trigger language plpgsql as $$ begin"
              "  if new.id = 10 then update rn set id = 2 where id = 20; end if; return null; end $$;"
              "create trigger back after update on rn for each row execute function back()");
  mirrored_capture(&f, "rk");
  mirrored_capture(&f, "rn");
  rowrelay_ok(&f, "backfill", "rk", "--to", "w", NULL);
  rowrelay_ok(&f, "backfill", "rn", "--to", "w", NULL);
  mirrored_deliver(&f);
  sql(f.at_source, "update rk set id = id * 10");
  sql(f.at_source, "update rn set id = id * 10");
  rowrelay_ok(&f, "target", "set", "w", "--option", "batch_rows=1", NULL);
  mirrored_same(&f, "rk");
  mirrored_same(&f, "rn");
  cr_assert_str_eq(ask(f.at_target, "select string_agg(id::text, ' ' order by id) from rn"), "2 10 30");
  fixture_end(&f);
}

/*
 * What a transaction changed of its own, and took back, has another number for its cmin: here it is the one of the
 * statement that gave the key away.
 */
Test(nesting, a_key_that_is_taken_anew_is_not_deleted_though_a_change_of_its_row_was_rolled_back) {
  struct fixture f;
  begin_facts(&f, "nesting_combined",
              "create table rk (id int primary key, n int); insert into rk values (1, 1), (2, 2);"
              "create function fill() returns trigger language plpgsql as $$ begin"
              "  if new.id = 10 then insert into rk values (2, 0);"
              "    begin update rk set n = 7 where id = 2; raise exception 'no'; exception when others then null; end;"
              "  end if; return null; end $$;"
              "create trigger fill after update on rk for each row execute function fill()");
  mirrored_capture(&f, "rk");
  rowrelay_ok(&f, "backfill", "rk", "--to", "w", NULL);
  mirrored_deliver(&f);
  sql(f.at_source, "update rk set id = id * 10");
  rowrelay_ok(&f, "target", "set", "w", "--option", "batch_rows=1", NULL);
  mirrored_same(&f, "rk");
  cr_assert_str_eq(ask(f.at_target, "select string_agg(id::text, ' ' order by id) from rk"), "2 10 20");
  fixture_end(&f);
}

/* An update to a null key takes the row out of the filter, as if it were deleted. */
Test(nesting, a_key_that_is_back_when_a_row_leaves_the_filter_with_a_null_key_stays) {
  struct fixture f;
  begin_facts(&f, "nesting_null",
              "create table again (id int, g int, unique (g, id));"
              "create function again() returns trigger language plpgsql as 'begin if pg_trigger_depth() = 1 then "
              "insert into again values (old.id, old.g); end if; return null; end';"
              "create trigger \"!again\" after update on again for each row execute function again();");
  rowrelay_ok(&f, "capture", "again", "--key", "id,g", "--where", "id <> 3", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into again values (1, 1), (2, 1)");
  sql(f.at_source, "update again set id = null where id = 1");
  mirrored_deliver(&f);
  cr_assert_str_eq(ask(f.at_target, "select string_agg(id::text, ' ' order by id) from again"), "1 2");
  fixture_end(&f);
}

Test(nesting, a_truncate_of_a_parent_without_a_key_leaves_out_rows_that_its_filter_leaves_out) {
  struct fixture f;
  begin_facts(&f, "nesting_emptied",
              "create table heap (a int, b int); create table heap_child (own int) inherits (heap);");
  rowrelay_ok(&f, "capture", "heap", "--where", "a > 1", "--exclude", "b", "--to", "w", "--create", NULL);
  sql(f.at_source,
      "insert into heap select i, i from generate_series(1, 4) as i; insert into heap_child values (2, 1)");
  sql(f.at_source, "truncate only heap");
  mirrored_deliver(&f);
  cr_assert_str_eq(
      ask(f.at_source, "select string_agg(old_row ->> 'a', ' ' order by id) from rowrelay.change where op = 'd'"),
      "2 3 4");
  cr_assert_str_eq(ask(f.at_target, "select string_agg(a::text, ' ') from heap"), "2");
  fixture_end(&f);
}

/* Lanes are not ordered among each other, so of two changes of a row in different lanes one must be a barrier. The
 * statement that takes the row out of its lane is told of only after what nests in it. */
Test(nesting, a_row_that_nested_writes_find_in_another_lane_comes_behind_a_barrier) {
  static const char *const WAYS[] = {
      "create trigger \" first\" after update of place on spot for each row when (old.place <> new.place) "
      "execute function again()",
      "create function touch(int) returns int language sql volatile as 'update spot set n = n + 1 where id = $1 "
      "returning n'",
  };
  static const char *const MOVES[] = {
      "update spot set place = place || 'b', n = 1",
      "update spot set place = place || 'b', n = 1 returning touch(id)",
  };
  for (size_t i = 0; i < sizeof WAYS / sizeof *WAYS; i++)
    for (int is_guarded = 0; is_guarded < 2; is_guarded++) {
      struct fixture f;
      fixture_begin(&f, "nesting_lanes");
      sql(f.at_source,
          "create table spot (id int primary key, place text not null, n int, secret text);"
          "create function again() returns trigger language plpgsql as 'begin update spot set n = n + 1 where id = "
          "new.id; return null; end';"
          "insert into spot select n, 'a' || n, 0 from generate_series(1, 50) as n");
      sql(f.at_source, "%s", WAYS[i]);
      rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
      rowrelay_ok(&f, "capture", "spot", "--to", "w", "--create", "--lane", "place", is_guarded ? "--exclude" : NULL,
                  "secret", NULL);
      sql(f.at_source, "update spot set n = 0");
      sql(f.at_source, "%s", MOVES[i]);
      cr_expect_str_eq(
          ask(f.at_source,
              "select count(*) from (select q.lane, lag(q.lane) over (partition by c.key order by c.id) as before "
              "from rowrelay.queue q join rowrelay.change c on c.id = q.change_id) as q, rowrelay.target t "
              "where q.lane <> q.before and rowrelay.lane_number(t.id, -1) not in (q.lane, q.before)"),
          "0");
      cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.queue q, rowrelay.target t "
                                        "where q.lane <> rowrelay.lane_number(t.id, -1)"),
                       "50", "what moves no row is no barrier");
      fixture_end(&f);
    }
}

Test(nesting, a_table_without_a_key_keeps_its_counts_in_whatever_pieces_they_travel) {
  struct fixture f;
  begin_facts(&f, "nesting_keyless",
              "create table heap (a int, b int);"
              "create function settle() returns trigger language plpgsql as $$ begin"
              "  if new.a = 1 then update heap set b = 1 where b = 0; end if;"
              "  if new.a = 2 then delete from heap where a > 40; end if; return null; end $$;"
              "insert into heap values (7, 0), (8, 0), (8, 0);");
  mirrored_capture(&f, "heap");
  rowrelay_ok(&f, "backfill", "heap", "--to", "w", NULL);
  mirrored_deliver(&f);
  sql(f.at_source, "create trigger settle after insert on heap for each row execute function settle();"
                   "insert into heap select i %% 45, 0 from generate_series(1, 100) as i");
  rowrelay_ok(&f, "target", "set", "w", "--option", "batch_rows=7", NULL);
  mirrored_same(&f, "heap");
  sql(f.at_source,
      "create function twice(i int) returns int language plpgsql as $$ begin"
      "  update heap set b = b + 1 where a >= 50; return i; end $$;"
      "begin; insert into heap select 50 + twice(i) %% 2, 0 from generate_series(1, 20) as i;"
      "savepoint s; insert into heap select 60 + twice(i), 0 from generate_series(1, 20) as i; rollback to s; commit");
  mirrored_same(&f, "heap");
  fixture_end(&f);
}

Test(nesting, what_triggers_insert_after_a_truncate_is_there_whichever_fires_first) {
  struct fixture f;
  begin_facts(
      &f, "nesting_refilled",
      "create table first (id int primary key, n int); create table second (like first including all);"
      "create table heap (n int); create table part (id int primary key, n int) partition by range (id);"
      "create table low partition of part for values from (0) to (10);"
      "create function refill() returns trigger language plpgsql as $$ begin"
      "  insert into first values (1, 1); insert into second values (2, 2), (3, 0); insert into heap values (3);"
      "  insert into part values (4, 4); return null; end $$;"
      "create trigger \"!!refill\" after truncate on first for each statement execute function refill()");
  static const char *const TABLES[] = {"first", "second", "heap", "part"};
  for (int i = 0; i < 4; i++)
    rowrelay_ok(&f, "capture", TABLES[i], "--to", "w", "--create", i == 1 ? "--where" : NULL, "n > 0", NULL);
  sql(f.at_source, "insert into heap values (1)");
  sql(f.at_source, "truncate first, second, heap, low");
  rowrelay_ok(&f, "target", "set", "w", "--option", "batch_rows=1", NULL);
  mirrored_deliver(&f);
  for (int i = 0; i < 4; i++)
    cr_expect_str_eq(ask(f.at_target, "select string_agg(n::text, ' ') from %s", TABLES[i]),
                     ask(f.at_source, "select string_agg(n::text, ' ') from %s where n > 0", TABLES[i]), "%s",
                     TABLES[i]);
  cr_assert_str_eq(ask(f.at_source, "select replay.check()"), "");
  fixture_end(&f);
}

/* The last transaction that was captured is not undone, neither as a whole nor by its last change. */
static void is_not_undone(struct fixture *f, const char *why) {
  cr_assert_str_eq(sql_fails(f->at_source, "select rowrelay.undo_transaction(max(txid::text)::xid8, true) "
                                           "from rowrelay.change"),
                   "55000", "%s", why);
  cr_assert_str_eq(sql_fails(f->at_source,
                             "select rowrelay.undo(h.relation, h.key, h.change_id, true) from "
                             "rowrelay.history h where h.op <> 'refresh' order by change_id desc limit 1"),
                   "55000", "%s", why);
}

Test(nesting, what_was_written_again_within_its_statement_is_not_undone) {
  struct fixture f;
  fixture_begin(&f, "nesting_undone");
  sql(f.at_source,
      "create table anew (id int primary key, n int); create table again (like anew including all);"
      "create table later (like anew including all); create table first (like anew including all);"
      "insert into anew values (1, 1); insert into again values (1, 1), (2, 1); insert into later values (1, 1), (2, "
      "1);"
      "create function anew() returns trigger language plpgsql as $$ begin"
      "  insert into anew values (old.id, 0); return null; end $$;"
      "create trigger \"!!anew\" after delete on anew for each row when (old.n > 0) execute function anew();"
      "create function again() returns trigger language plpgsql as $$ begin"
      "  update again set n = n + 10 where id = 2; return null; end $$;"
      "create trigger again after update on again for each row when (new.id = 1) execute function again();"
      "create function later() returns trigger language plpgsql as $$ begin"
      "  insert into later values (2, 5); return null; end $$;"
      "create trigger later after delete on later for each row when (old.id = 1) execute function later();"
      "create function first() returns trigger language plpgsql as $$ begin"
      "  delete from first where id = 2; return null; end $$;"
      "create trigger first after insert on first for each row when (new.id = 1) execute function first();"
      "select rowrelay.capture_table(t, before => b) from unnest('{anew,again,later,first}'::regclass[], "
      "'{none,full,full,full}'::text[]) as u(t, b)");
  sql(f.at_source, "delete from anew");
  is_not_undone(&f, "a row that was deleted, and inserted anew");
  sql(f.at_source, "update again set n = 2");
  is_not_undone(&f, "a row that was updated twice");
  sql(f.at_source, "delete from later");
  is_not_undone(&f, "a key that was taken before it was told that it is free");
  sql(f.at_source, "insert into first values (1, 1), (2, 1)");
  is_not_undone(&f, "a row that came and went");
  /* what is left out goes to no target */
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.change where caveat ->> 'left_out' = 'true' and "
                                    "(op <> 'r' or new_row is not null)"),
                   "0");
  fixture_end(&f);
}

Test(nesting, what_a_row_filter_made_an_insert_or_a_delete_of_an_update_is_not_undone) {
  struct fixture f;
  fixture_begin(&f, "nesting_filtered");
  sql(f.at_source,
      "create table ticket (id int primary key, n int, doc json); create table heap (like ticket);"
      "alter table heap alter id drop not null;"
      "select rowrelay.capture_table(t, row_filter => 'n > 1') from unnest('{ticket,heap}'::regclass[]) as t;"
      "insert into ticket values (1, 1, 'null'), (2, 2, 'null'); insert into heap select * from ticket");
  for (int i = 0; i < 2; i++) {
    const char *table = i == 0 ? "ticket" : "heap";
    sql(f.at_source, "update %s set n = 2 where id = 1", table);
    is_not_undone(&f, "a row that came into the filter");
    cr_assert_str_eq(ask(f.at_source, "select caveat ->> 'text_columns' from rowrelay.change order by id desc limit 1"),
                     "[\"doc\"]");
    sql(f.at_source, "update %s set n = 1 where id = 2", table);
    is_not_undone(&f, "a row that left the filter");
    /* and what only looks like that is undone: a row that is made, or given another key */
    sql(f.at_source, "insert into %s values (3, 3)", table);
    sql(f.at_source, "select rowrelay.undo_transaction(max(txid::text)::xid8, true) from rowrelay.change");
    cr_assert_str_eq(ask(f.at_source, "select string_agg(id::text, ' ' order by id) from %s", table), "1 2");
    sql(f.at_source, "update %s set id = 7 where id = 1", table);
    sql(f.at_source, "select rowrelay.undo_transaction(max(txid::text)::xid8, true) from rowrelay.change");
    cr_assert_str_eq(ask(f.at_source, "select string_agg(id::text, ' ' order by id) from %s", table), "1 2");
  }
  fixture_end(&f);
}

Test(nesting, keys_that_are_handed_on_among_partitions_are_told_of_and_undone) {
  struct fixture f;
  begin_facts(&f, "nesting_handed",
              "create table part (id int primary key, n int) partition by range (id);"
              "create table low partition of part for values from (minvalue) to (3);"
              "create table high partition of part for values from (3) to (maxvalue);");
  mirrored_capture(&f, "part");
  sql(f.at_source, "insert into part select i, i from generate_series(1, 4) as i");
  sql(f.at_source, "update part set id = id - 1");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(op::text || key, ' ' order by id) from rowrelay.change "
                                    "where txid = (select max(c.txid::text)::xid8 from rowrelay.change c)"),
                   "d1 i0 d2 i1 d3 i2 d4 i3");
  same_though_one_by_one(&f, "part");
  sql(f.at_source, "select rowrelay.undo_transaction(max(txid::text)::xid8, true) from rowrelay.change");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(concat(id, n), ' ' order by id) from part"), "11 22 33 44");
  same_though_one_by_one(&f, "part");
  fixture_end(&f);
}

/* SERIALIZABLE notes what a transaction has read, and lets it fail where others write that. */
Test(nesting, a_writer_of_a_table_without_a_key_reads_nothing_that_all_writers_write) {
  struct fixture f;
  mirrored_begin(&f, "nesting_serializable", "create table item (name text, n int)");
  mirrored_capture(&f, "item");
  sql(f.at_source, "insert into item select g, 0 from generate_series(1, 10) g");
  sql(f.at_source, "begin isolation level serializable; update item set n = n + 1 where name = '1'; "
                   "update item set n = n + 1 where name = '1'; delete from item where name = '2'; "
                   "insert into item values ('2', 1)");
  cr_expect_str_eq(ask(f.at_source,
                       "select string_agg(c.relname, ' ') from pg_locks l join pg_class c on c.oid = "
                       "l.relation where l.mode = 'SIReadLock' and c.relnamespace = 'rowrelay'::regnamespace"),
                   "");
  sql(f.at_source, "commit");
  mirrored_deliver(&f);
  mirrored_same(&f, "item");
  fixture_end(&f);
}
