/*
 * Keys of every kind: those whose equal values may be spelled differently, and those whose types functions refuse. A
 * row is deleted under one spelling and inserted again under another, which is one row to every unique index, on both
 * sides.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "mirrored.h"

/* Types that the kinds below are of; made on both sides. */
#define TYPES                                                                                                          \
  "create collation ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);"                           \
  "create type mood as enum ('sad', 'ok', 'happy'); create domain a_mood as mood; create domain any_mood as a_mood;"   \
  "create domain amount as numeric; create domain word as text collate ci;"                                            \
  "create type pair as (a int, n numeric, f float8); create domain a_pair as pair;"                                    \
  "create type worded as (a int, t text collate ci); create type flags as (a int, b bit(3));"                          \
  "create type strict as (n amount); create domain amounts as numeric[]; create domain span as numrange; "             \
  "create domain doc as jsonb"

/* A type, two spellings of one value, and another value. NULL: it has one spelling. */
struct kind {
  const char *type;
  const char *one;
  const char *same;
  const char *other;
  bool in_pair; /* the key has a column of integers besides */
};

static const struct kind KINDS[] = {
    {"numeric", "1.0", "1.00", "2", false},
    {"amount", "1.0", "1.00", "2", false},
    {"numeric", "1.0", "1.00", "2", true},
    {"float8", "0", "-0", "NaN", false},
    {"float8", "0", "-0", "Infinity", true},
    {"float4", "0", "-0", "1.1", false},
    {"interval", "1 day", "24 hours", "1 month", false},
    {"interval", "1 mon", "30 days", "1 day", true},
    {"char(5)", "a", "a  ", "b", false},
    {"char(5)", "a", "a  ", "b", true},
    {"bpchar", "a", "a  ", "b", false},
    {"bpchar", "a", "a  ", "b", true},
    {"text collate ci", "Ann", "ann", "Bob", false},
    {"text collate ci", "Ann", "ann", "Bob", true},
    {"varchar(9) collate ci", "Ann", "ann", "Bob", false},
    {"word", "Ann", "ann", "Bob", false},
    {"text[] collate ci", "{Ann,b}", "{ann,B}", "{Bob}", false},
    {"mood", "ok", NULL, "sad", false},
    {"a_mood", "ok", NULL, "sad", false},
    {"any_mood", "ok", NULL, "sad", false},
    {"any_mood", "ok", NULL, "sad", true},
    {"pair", "(1,1.0,0)", "(1,1.00,-0)", "(2,,)", false},
    {"pair", "(1,1.0,0)", "(1,1.00,-0)", "(2,1,1)", true},
    {"a_pair", "(1,1.0,0)", "(1,1.00,-0)", "(2,1,1)", false},
    {"worded", "(1,Ann)", "(1,ann)", "(1,Bob)", false},
    {"flags", "(1,101)", NULL, "(1,110)", false},
    {"strict", "(1.0)", "(1.00)", "(2)", false},
    {"numeric[]", "{1.0,2}", "{1,2.0}", "{}", false},
    {"numeric[]", "{1.0,2}", "{1,2.0}", "{3}", true},
    {"amounts", "{1.0,2}", "{1,2.0}", "{3}", false},
    {"int[]", "{1,2}", NULL, "[5:6]={1,2}", false},
    {"int[]", "[5:6]={1,2}", NULL, "{1,2}", false},
    {"numrange", "[1.0,2)", "[1,2.0)", "empty", false},
    {"span", "[1.0,2)", "[1,2.0)", "[3,4)", false},
    {"int4range", "[1,2]", "[1,3)", "(,)", false},
    {"jsonb", "{\"a\": 1.0}", "{\"a\": 1.00}", "[]", false},
    {"jsonb", "{\"a\": 1.0}", "{\"a\": 1.00}", "[1]", true},
    {"jsonb", "null", NULL, "\"null\"", false},
    {"jsonb", "\"null\"", NULL, "null", true},
    {"doc", "null", NULL, "\"null\"", false},
    {"tsquery", "a & b", NULL, "c", false},
    {"tsvector", "a:1 b", NULL, "c", false},
    {"bytea", "\\x00ff", NULL, "\\x", false},
    {"uuid", "00000000-0000-0000-0000-00000000000a", "0000000000000000000000000000000A",
     "00000000-0000-0000-0000-00000000000b", false},
    {"date", "2026-01-02", NULL, "infinity", false},
    {"timestamptz", "2026-01-02 03:04:05.678+02", "2026-01-02 01:04:05.678+00", "-infinity", false},
    {"timetz", "03:04:05+02", NULL, "03:04:05+00", true},
    {"inet", "10.0.0.1/32", "10.0.0.1", "10.0.0.1/8", false},
    {"money", "1.10", "1.1", "-2", false},
    {"bit(4)", "0101", NULL, "0001", false},
    {"bool", "true", "t", "false", false},
    {"\"char\"", "a", NULL, "b", false},
    {"regclass", "pg_class", "pg_catalog.pg_class", "pg_type", false},
    {"xid8", "1", NULL, "2", false},
    {"citext", "Ann", "ann", "Bob", false},
    {"citext", "Ann", "ann", "Bob", true},
    {"citext[]", "{Ann}", "{ann}", "{Bob}", false},
    {"nickname", "Ann", "ann", "Bob", false},
};
#define KIND_COUNT ((int)(sizeof KINDS / sizeof *KINDS))

/* What no index can identify without running somebody's CHECK is always there. */
static bool is_used(int i) {
  return is_tried_of(i, 7) || strcmp(KINDS[i].type, "strict") == 0;
}

static int used_count(void) {
  int count = 0;
  for (int i = 0; i < KIND_COUNT; i++)
    count += is_used(i);
  return count;
}

static const char *same_value(const struct kind *kind) {
  return kind->same != NULL ? kind->same : kind->one;
}

/* Tables k0, k1, … of one kind each, on both sides; where there is no citext those that need it are of text. */
static void begin(struct fixture *f, const char *name, const char *option) {
  fixture_begin(f, name);
  bool has_citext = true;
  PGconn *sides[] = {f->at_source, f->at_target};
  for (int side = 0; side < 2; side++)
    has_citext =
        has_citext && ask_number(sides[side], "select count(*) from pg_available_extensions where name = 'citext'") > 0;
  for (int side = 0; side < 2; side++) {
    sql(sides[side], TYPES);
    sql(sides[side], "%s; create domain nickname as citext",
        has_citext ? "create extension citext" : "create domain citext as text collate ci");
    for (int i = 0; i < KIND_COUNT; i++)
      if (is_used(i))
        sql(sides[side], "create table k%d (g int default 7, v int, k %s, primary key (%sk))", i, KINDS[i].type,
            KINDS[i].in_pair ? "g, " : "");
  }
  sql(f->at_source, "create schema test;"
                    "create table test.kind (number int, one text, same text, other text);"
                    /* with %1$s for the table, %2$L for one spelling, %3$L for the other, %4$L for the other value */
                    "create procedure test.on_each(statement text) language plpgsql as $$declare command text; begin "
                    "  for command in select format(statement, 'public.k' || number, one, same, other) from test.kind "
                    "  loop execute command; end loop; end$$");
  for (int i = 0; i < KIND_COUNT; i++)
    if (is_used(i))
      sql(f->at_source, "insert into test.kind values (%d, '%s', '%s', '%s')", i, KINDS[i].one, same_value(&KINDS[i]),
          KINDS[i].other);
  rowrelay_ok(f, "target", "add", "w", f->target_url, "--option", option, NULL);
  rowrelay_ok(f, "capture", "k*", "--to", "w", NULL);
}

#define ON_EACH(f, statement) sql((f)->at_source, "call test.on_each('%s')", statement)

static const char *errors_of(struct fixture *f) {
  return ask(f->at_source,
             "select string_agg(format('%%s %%s of %%s: %%s', op, key, relation, message), E'\\n' order by "
             "change_id) from rowrelay.errors");
}

static void all_arrived(struct fixture *f) {
  cr_assert_str_eq(errors_of(f), "");
  for (int i = 0; i < KIND_COUNT; i++) {
    char table[16];
    if (!is_used(i))
      continue;
    snprintf(table, sizeof table, "k%d", i);
    cr_assert(ask_number(f->at_source, "select count(*) from %s", table) > 0);
    same_rows(f, table, table, "v");
  }
  rowrelay_ok(f, "verify", "w", NULL);
}

/* The mirrors' tables refuse to delete rows whose v is 1 while table gate has no row, or the first `times` times. */
static void refuse_deletes(struct fixture *f, int times) {
  sql(f->at_target,
      "create table gate (); create sequence tries;"
      "create function refuse() returns trigger language plpgsql as $$begin "
      "  if old.v = 1 and (nextval('tries') <= %d or %d = 0 and not exists (select from gate)) then "
      "    raise exception 'not now' using errcode = 'check_violation'; end if; return old; end$$",
      times, times);
  for (int i = 0; i < KIND_COUNT; i++)
    if (is_used(i))
      sql(f->at_target, "create trigger refuse before delete on k%d for each row execute function refuse()", i);
}

static void open_gate(struct fixture *f) {
  sql(f->at_target, "insert into gate default values");
}

/* A row under one spelling is deleted, and comes back under another; its delete is refused. */
static void begin_respelled(struct fixture *f, const char *name, const char *option, int times) {
  begin(f, name, option);
  ON_EACH(f, "insert into %1$s (k, v) values (%2$L, 1), (%4$L, 2)");
  rowrelay_ok(f, "run", "--until-empty", NULL);
  all_arrived(f);
  refuse_deletes(f, times);
  ON_EACH(f, "delete from %1$s where v = 1; insert into %1$s (k, v) values (%3$L, 3)");
}

Test(keys, every_way_to_capture_puts_equal_keys_into_one_lane) {
  struct fixture f;
  begin(&f, "keys_lanes", "on_error=park");
  /* record_change() is called by what version 1 made, whose images do not tell JSON null from none: it says so */
  sql(f.at_source, "delete from test.kind where 'null' in (one, other)");
  ON_EACH(&f, "insert into %1$s (k, v) values (%2$L, 1)");
  ON_EACH(
      &f,
      "select rowrelay.record_change(c.id, ''UPDATE'', row_to_json(t), row_to_json(t)) from %1$s t, rowrelay.capture c"
      " where c.relation = ''%1$s''::regclass");
  sql(f.at_source,
      "select rowrelay.requeue(c.relation, 'w', array(select h.key from rowrelay.change h where h.capture = c.id))"
      " from rowrelay.capture c");
  ON_EACH(&f, "delete from %1$s");
  ON_EACH(&f, "insert into %1$s (k, v) values (%3$L, 1)");
  ON_EACH(&f, "select rowrelay.record_change(c.id, ''DELETE'', row_to_json(t), null) from %1$s t, rowrelay.capture c"
              " where c.relation = ''%1$s''::regclass");
  ON_EACH(&f, "delete from %1$s");
  sql(f.at_source,
      "select rowrelay.requeue(c.relation, 'w', array(select h.key from rowrelay.change h where h.capture = c.id))"
      " from rowrelay.capture c");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(distinct h.caveat ->> 'problem', ', ') from rowrelay.change h"),
                   "");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(format('%%s: %%s', o.relation, o.lanes), ', ') from ("
                                    "  select c.relation, array_agg(distinct q.lane & 4095) as lanes, count(*) as n"
                                    "    from rowrelay.queue q join rowrelay.change h on h.id = q.change_id"
                                    "    join rowrelay.capture c on c.id = h.capture group by 1) as o"
                                    " where cardinality(o.lanes) <> 1 or o.lanes = '{0}' or o.n < 7"),
                   "");
  cr_assert_eq(ask_number(f.at_source, "select count(distinct h.capture) from rowrelay.queue q join rowrelay.change h"
                                       " on h.id = q.change_id"),
               ask_number(f.at_source, "select count(*) from test.kind"));
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(errors_of(&f), "");
  fixture_end(&f);
}

Test(keys, rows_of_any_key_arrive_by_trigger_backfill_and_repair) {
  struct fixture f;
  begin(&f, "keys_arrive", "on_error=park");
  ON_EACH(&f, "insert into %1$s (k, v) values (%2$L, 1), (%4$L, 2); update %1$s set v = 3 where v = 1;"
              "update %1$s set k = %3$L where v = 3; update %1$s set v = v + 2");
  /* Where a document or a subject bears the key's text: the last of what was said of a former one is that it is gone.
   */
  cr_assert_str_eq(ask(f.at_source,
                       "select string_agg(distinct l.capture::text, ' ') from (select distinct on (capture, key)"
                       "  capture, key, op from rowrelay.change order by capture, key, id desc) as l"
                       "  where l.op <> 'd' group by l.capture having count(*) <> 2"),
                   "");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  all_arrived(&f);
  for (int i = 0; i < KIND_COUNT; i++)
    if (is_used(i))
      sql(f.at_target, "truncate k%d; insert into k%d (k, v) values ('%s', 9)", i, i, KINDS[i].one);
  /* what has a CHECK within is not read in pieces, and left to verify */
  for (int i = 0; i < KIND_COUNT; i++)
    if (is_used(i) && strcmp(KINDS[i].type, "strict") != 0)
      sql(f.at_source, "select rowrelay.backfill('k%d', 'w')", i);
  fixture_run(&f, "--workers", "1", NULL);
  wait_until(f.at_source, "0", 120, "select count(*) from rowrelay.backfills where state <> 'done'");
  rowrelay(&f, NULL, NULL, "verify", "w", "k26", "--repair", NULL);
  wait_until_empty(&f, 60);
  all_arrived(&f);
  for (int i = 0; i < KIND_COUNT; i++)
    if (is_used(i))
      sql(f.at_target, "delete from k%d where v = 5; update k%d set v = 9", i, i);
  cr_assert_eq(rowrelay(&f, NULL, NULL, "verify", "w", "--repair", NULL), 3);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  all_arrived(&f);
  fixture_end(&f);
}

Test(keys, a_change_that_is_tried_again_is_not_overtaken_by_another_spelling) {
  struct fixture f;
  begin_respelled(&f, "keys_moment", "retries=3", 2 * used_count());
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  all_arrived(&f);
  fixture_end(&f);
}

Test(keys, a_parked_change_is_moot_when_the_row_has_come_under_another_spelling) {
  struct fixture f;
  begin_respelled(&f, "keys_parked", "on_error=park", 0);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  open_gate(&f);
  /* where the row is not known, because a user's CHECK would have to run to identify it, other changes wait instead */
  cr_assert_str_eq(ask(f.at_source, "select string_agg(distinct a.atttypid::regtype::text, ' ') from rowrelay.errors e"
                                    "  join pg_attribute a on a.attrelid = e.relation and a.attname = 'k'"),
                   "strict");
  rowrelay_ok(&f, "retry", "--all", NULL);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  all_arrived(&f);
  fixture_end(&f);
}

Test(keys, a_blocked_row_waits_under_every_spelling) {
  struct fixture f;
  begin_respelled(&f, "keys_blocked", "on_error=block", 0);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  ON_EACH(&f, "update %1$s set v = 4 where v = 3"); /* and in a later batch */
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(ask(f.at_source,
                       "select string_agg(e.relation || ': ' || e.states, '; ') from (select relation::text, "
                       "string_agg(left(op, 1) ||"
                       "  ' ' || state, ' ' order by change_id) as states from rowrelay.errors group by 1) as e"
                       " where e.states <> 'd error i blocked u blocked'"),
                   "");
  open_gate(&f);
  rowrelay_ok(&f, "retry", "--all", NULL);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  all_arrived(&f);
  fixture_end(&f);
}

Test(keys, a_halted_target_goes_on_in_order_whatever_the_spelling) {
  struct fixture f;
  begin_respelled(&f, "keys_halted", "on_error=halt", 0);
  open_gate(&f);
  sql(f.at_target, "delete from gate");
  rowrelay(&f, NULL, NULL, "run", "--until-empty", NULL);
  open_gate(&f);
  rowrelay_ok(&f, "retry", "--all", NULL);
  for (int n = 0; n < 2 && ask_number(f.at_source, "select count(*) from rowrelay.status where state = 'halted'") > 0;
       n++) {
    rowrelay_ok(&f, "target", "resume", "w", NULL);
    rowrelay_ok(&f, "run", "--until-empty", NULL);
    rowrelay_ok(&f, "retry", "--all", NULL);
  }
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  all_arrived(&f);
  fixture_end(&f);
}

Test(keys, pieces_of_a_table_end_where_its_own_order_has_them) {
  struct fixture f;
  fixture_begin(&f, "keys_pieces");
  if (ask_number(f.at_source, "select count(*) from pg_available_extensions where name = 'citext'") == 0) {
    fixture_end(&f);
    cr_skip("extension citext is not available");
  }
  PGconn *sides[] = {f.at_source, f.at_target};
  for (int side = 0; side < 2; side++)
    sql(sides[side],
        "create schema ext; create extension citext schema ext;"
        "create table item (g ext.citext, k ext.citext, v int, primary key (k)); create table pair (like item);"
        "alter table pair add primary key (g, k)");
  for (int table = 0; table < 2; table++)
    sql(f.at_source,
        "insert into %s select case when n %% 3 = 0 then 'B' else 'b' end || n %% 7,"
        "  case when n %% 2 = 0 then upper(md5(n::text)) else md5(n::text) end, n from generate_series(1, 4000) n",
        table == 0 ? "item" : "pair");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&f, "capture", "item", "pair", "--to", "w", NULL);
  rowrelay_ok(&f, "backfill", "item", "pair", "--to", "w", "--no-copy", NULL);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  same_rows(&f, "item", "item", "v");
  same_rows(&f, "pair", "pair", "v");
  fixture_end(&f);
}

Test(keys, a_refused_row_with_a_key_too_long_for_an_index_holds_up_nobody) {
  struct fixture f;
  fixture_begin(&f, "keys_long");
  PGconn *sides[] = {f.at_source, f.at_target};
  for (int side = 0; side < 2; side++)
    sql(sides[side], "create table item (k text primary key, v int%s)", side == 1 ? " check (v > 0)" : "");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  /* as long as a key may be, and nothing that compression could shorten */
  sql(f.at_source,
      "insert into item select string_agg(chr(33 + (('x' || md5(n::text))::bit(32)::int & 2147483647) %% 94), ''), 0"
      "  from generate_series(1, 2688) n;"
      "insert into item values ('short', 2)");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert(ask_number(f.at_source, "select max(length(key)) from rowrelay.errors") == 2688);
  cr_assert_eq(ask_number(f.at_target, "select count(*) from item where v = 2"), 1);
  sql(f.at_source, "update item set v = 1 where v = 0");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(errors_of(&f), "");
  same_rows(&f, "item", "item", "1");
  fixture_end(&f);
}

Test(keys, a_row_is_redacted_under_all_spellings_of_its_key) {
  struct fixture f;
  fixture_begin(&f, "keys_redacted");
  sql(f.at_source, TYPES
      ";"
      "create table item (k text collate ci primary key, secret text); create table stay (k interval, g int, secret "
      "text, primary key (k, g)); select rowrelay.capture_table('item', before => 'full');"
      "select rowrelay.capture_table('stay');"
      "insert into item values ('Ann', 'one'); update item set k = 'ANN', secret = 'two'; delete from item;"
      "insert into item values ('ann', 'three'), ('Bob', 'kept'); update item set k = 'Anna' where k = 'ann';"
      "insert into stay values ('1 day', 1, 'four'); update stay set k = '24 hours', secret = 'five';"
      "insert into stay values ('1 day', 2, 'kept')");
  sql(f.at_source, "select rowrelay.redact('item', 'anna', '{secret}', true);"
                   "select rowrelay.redact('stay', '[\"24 hours\", 1]', '{secret}')");
  cr_assert_str_eq(ask(f.at_source,
                       "select string_agg(distinct v.secret, ' ') from rowrelay.change h"
                       "  cross join lateral (values (h.old_row ->> 'secret'), (h.new_row ->> 'secret')) as "
                       "v(secret)"),
                   "kept");
  fixture_end(&f);
}

/* It has no name there while one of its columns is null. */
Test(keys, a_row_leaves_a_mirror_when_its_key_becomes_null_and_comes_back_with_another) {
  static const char *const CAPTURES[] = {", key => '{id}'", ", key => '{g,id}'", ", key => '{g,id}', before => 'full'",
                                         ", key => '{id}', row_filter => 'n < 9'",
                                         ", key => '{g,id}', per => 'statement'"};
  struct fixture f;
  fixture_begin(&f, "keys_null");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  for (size_t i = 0; i < sizeof CAPTURES / sizeof *CAPTURES; i++) {
    sql(f.at_source,
        "create table maybe%zu (id int unique, g int default 1, n int, unique (g, id));"
        "select rowrelay.capture_table('maybe%zu', target => 'w', create_table => true%s)",
        i, i, CAPTURES[i]);
    sql(f.at_source,
        "insert into maybe%zu (id, n) values (1, 1), (2, 2), (null, 3), (null, 4);"
        "update maybe%zu set id = null where id = 2; update maybe%zu set id = 4 where n = 4;"
        "update maybe%zu set id = nullif(id, 1); update maybe%zu set id = 1, n = 5 where n = 1; "
        "delete from maybe%zu where n = 2",
        i, i, i, i, i, i);
    rowrelay_ok(&f, "run", "--until-empty", NULL);
    cr_expect_str_eq(ask(f.at_target, "select string_agg(concat(id, n), ' ' order by id) from maybe%zu", i), "15 44",
                     "%s", CAPTURES[i]);
    cr_expect_str_eq(ask(f.at_source,
                         "select string_agg(distinct message, ' ') || bool_and(key ~ 'null' or key is null) "
                         "from rowrelay.errors where relation = 'maybe%zu'::regclass",
                         i),
                     "the row could not be captured: its key is nulltrue", "%s", CAPTURES[i]);
  }
  fixture_end(&f);
}

Test(keys, a_row_without_a_key_that_a_trigger_writes_again_is_not_recorded_as_deleted) {
  struct fixture f;
  fixture_begin(&f, "keys_null_again");
  sql(f.at_source, "create table maybe (id int unique, n int); insert into maybe values (1, 1), (null, 1);"
                   "create function again() returns trigger language plpgsql as $$ begin "
                   "update maybe set n = n + 10 where id is null; return null; end $$;"
                   "create trigger again after update on maybe for each row when (new.id = 1) execute function again();"
                   "select rowrelay.capture_table('maybe', key => '{id}')");
  sql(f.at_source, "update maybe set n = 2");
  cr_assert_str_eq(ask(f.at_source,
                       "select string_agg(concat(op, key, new_row ->> 'n', ' ', caveat ->> 'problem'), ', ' "
                       "order by id) from rowrelay.change where op not in ('b', 't')"),
                   "u12 , u12 its key is null, u2 its key is null");
  fixture_end(&f);
}

/* An heir keeps its rows under TRUNCATE ONLY, so what is taken is logged row by row. */
Test(keys, a_row_without_a_key_is_truncated_as_it_is_deleted) {
  struct fixture f;
  fixture_begin(&f, "keys_null_truncated");
  sql(f.at_source, "create table maybe (id int unique, n int); create table heir () inherits (maybe);"
                   "select rowrelay.capture_table('maybe', key => '{id}');"
                   "insert into maybe values (1, 1), (null, 1), (null, 2);"
                   "delete from maybe where n = 2; truncate only maybe");
  cr_assert_str_eq(ask(f.at_source,
                       "select string_agg(concat(op, key, ' ', old_row, ' ', caveat ->> 'problem'), ', ' order by id) "
                       "from rowrelay.change where op = 'd'"),
                   "d {\"id\" : null} its key is null, d1 {\"id\" : 1} , d {\"id\" : null} its key is null");
  fixture_end(&f);
}

/* A dump and restore makes the labels anew, so they get other numbers. */
Test(keys, the_lane_of_an_enum_comes_from_its_label_and_not_from_its_number) {
  struct fixture f;
  fixture_begin(&f, "keys_labels");
  rowrelay_ok(&f, "target", "add", "w", "file:/dev/null", NULL);
  sql(f.at_source, "create type mood as enum ('a', 'b', 'c', 'd', 'e', 'f'); create table former (m mood primary key);"
                   "create type again as enum ('b', 'c', 'd', 'e', 'f'); alter type again add value 'a' before 'b'");
  sql(f.at_source, "create table later (m again primary key)");
  rowrelay_ok(&f, "capture", "former", "later", "--to", "w", NULL);
  sql(f.at_source, "insert into former select unnest(enum_range(null::mood))");
  sql(f.at_source, "insert into later select unnest(enum_range(null::again))");
  cr_expect_eq(ask_number(f.at_source, "select count(*) from rowrelay.queue"), 12);
  cr_expect_eq(ask_number(f.at_source, "select count(distinct (c.key, q.lane)) from rowrelay.queue q "
                                       "join rowrelay.change c on c.id = q.change_id"),
               6);
  fixture_end(&f);
}

/* ---- keys that a mirror would round ------------------------------------------------------------------------------ */

struct finer {
  const char *was, *is_now;
  const char *former, *values; /* keys before and after */
};

static const struct finer FINER[] = {
    {"numeric(10,2)", "numeric(12,4)", "1.25", "(1.2511), (1.2512)"},
    {"numeric(10,2)", "numeric", "1.25", "(1.2511), (1.2512)"},
    {"date", "timestamp", "'2020-01-01'", "('2020-01-01 10:00'), ('2020-01-01 11:00')"},
    {"timestamptz(0)", "timestamptz", "'2020-01-01 10:00'", "('2020-01-01 10:00:00.1'), ('2020-01-01 10:00:00.2')"},
    {"timestamp(1)", "timestamp(3)", "'2020-01-01 10:00'", "('2020-01-01 10:00:00.11'), ('2020-01-01 10:00:00.12')"},
    {"time(0)", "time", "'10:00'", "('10:00:00.1'), ('10:00:00.2')"},
    {"interval day", "interval", "'1 day'", "('1 day 1 hour'), ('1 day 2 hours')"},
    {"real", "float8", "1.5", "(2.10000000001), (2.10000000002)"},
    {"float8", "numeric", "1.5", "(1.10000000000000000001), (1.10000000000000000002)"},
    {"int", "text", "1", "('2'), ('02')"},
    {"numeric(10,2)", "text", "1.25", "('1.5'), ('1.50')"},
    {"uuid", "text", "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'",
     "('A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'), ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1a')"},
    {"char(3)", "text", "'abc'", "('ab'), ('ab ')"},
    {"varchar(3)", "varchar(5)", "'abc'", "('ab'), ('abc ')"},
    {"boolean", "text", "true", "('f'), ('false')"},
    {"money", "numeric", "'1.01'", "(1.011), (1.012)"},
    {"time", "timetz", "'10:00'", "('10:00+01'), ('10:00+02')"},
    {"\"char\"", "text", "'a'", "('ab'), ('ac')"},
    {"shorter", "varchar(9)", "'abc'", "('abc '), ('ab')"},
};
enum { FINER_COUNT = sizeof FINER / sizeof *FINER };

/* Their mirrors have the former types until somebody alters them: two keys would be one there. */
Test(keys, of_a_finer_type_wait_until_the_mirror_has_that_type) {
  struct fixture f;
  mirrored_begin(&f, "keys_finer", "create table other (id int primary key); create domain shorter as varchar(3)");
  for (int i = 0; i < FINER_COUNT; i++)
    sql(f.at_source, "create table k%d (k %s primary key, n int)", i, FINER[i].was);
  rowrelay_ok(&f, "capture", "k*", "other", "--to", "w", "--create", NULL);
  for (int i = 0; i < FINER_COUNT; i++)
    sql(f.at_source, "insert into k%d values (%s)", i, FINER[i].former);
  mirrored_deliver(&f);
  for (int i = 0; i < FINER_COUNT; i++)
    sql(f.at_source,
        "alter table k%d alter k type %s; insert into k%d values %s; delete from k%d where k = (select max(k) from "
        "k%d)",
        i, FINER[i].is_now, i, FINER[i].values, i, i);
  sql(f.at_source, "insert into other values (1)");
  mirrored_maintain(&f);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  same_rows(&f, "other", "other", "id");
  for (int i = 0; i < FINER_COUNT; i++)
    cr_expect_str_eq(ask(f.at_target, "select count(*) from k%d where k = %s", i, FINER[i].former), "1", "%s",
                     FINER[i].was);
  cr_assert(ask_number(f.at_source, "select count(distinct relation) from rowrelay.errors where state = 'waiting'") ==
            FINER_COUNT);
  cr_assert_not_null(
      strstr(rowrelay_ok(&f, "errors", NULL),
             "column k of table public.k0 in the target has type numeric(10,2), and numeric(12,4) at the "
             "source: several keys could become one"));
  for (int i = 0; i < FINER_COUNT; i++) {
    const char *hint = ask(f.at_source,
                           "select substring(h.hint from '^run there: (.*)$') from rowrelay.hold h join "
                           "rowrelay.capture c on c.id = h.capture where c.relation_name = 'public.k%d'",
                           i);
    sql(f.at_target, "%s", hint);
  }
  rowrelay_ok(&f, "retry", "--all", "--target", "w", NULL);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  for (int i = 0; i < FINER_COUNT; i++) {
    char table[10];
    snprintf(table, sizeof table, "k%d", i);
    mirrored_same(&f, table);
  }
  fixture_end(&f);
}

Test(keys, of_a_finer_type_wait_also_where_a_process_runs) {
  struct fixture f;
  mirrored_begin(&f, "keys_finer_run", "create table k0 (k numeric(10,2) primary key, n int)");
  mirrored_capture(&f, "k0");
  sql(f.at_source, "insert into k0 values (1.25)");
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  wait_until_empty(&f, 10);
  sql(f.at_source, "alter table k0 alter k type numeric(12,4)");
  mirrored_maintain(&f);
  sql(f.at_source, "insert into k0 values (1.2511), (1.2512); delete from k0 where k = 1.2512");
  wait_until(f.at_source, "3", 20, "select count(*) from rowrelay.errors where state = 'waiting' and op <> 'barrier'");
  cr_assert_str_eq(ask(f.at_target, "select string_agg(k::text, ' ') from k0"), "1.25");
  sql(f.at_target, "alter table k0 alter k type numeric(12,4)");
  wait_until(f.at_target, "1.2500 1.2511", 60, "select string_agg(k::text, ' ' order by k) from k0");
  cr_assert(stop_process(process, SIGTERM) == 0);
  fixture_end(&f);
}
