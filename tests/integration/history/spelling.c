/*
 * Rows whose equal keys have different texts: their whole life is found under every spelling, wherever the index of the
 * history is, and nobody takes a change under another spelling for none.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "past.h"
#include "people.h"

/* A table's key, a row's three spellings, of which only the first two are logged, and another row. */
struct kind {
  const char *table;
  const char *columns;
  const char *key;   /* of the first spelling, to insert */
  const char *again; /* of the second */
  const char *other;
  const char *asked[3]; /* as a person writes them */
};

static const struct kind KINDS[] = {
    {"word", "k text collate ci primary key", "'Bob'", "'BOB'", "'Ann'", {"Bob", "BOB", "bob"}},
    {"person", "k citext primary key", "'Bob'", "'BOB'", "'Ann'", {"Bob", "BOB", "bob"}},
    {"price", "k numeric(10, 2) primary key", "1.5", "1.50", "2", {"1.5", "1.50", "1.500"}},
    {"prices", "k numeric[] primary key", "'{1.0}'", "'{1.00}'", "'{2}'", {"{1.0}", "{1.00}", "{1}"}},
    {"number", "k float8 primary key", "'0'", "'-0'", "'1'", {"0", "-0", "0.0"}},
    {"stay", "k interval primary key", "'1 day'", "'24 hours'", "'1 h'", {"1 day", "24:00:00", "1 days"}},
    {"pair",
     "g int, k text collate ci, primary key (g, k)",
     "7, 'Bob'",
     "7, 'BOB'",
     "8, 'Bob'",
     {"[7, \"Bob\"]", "[7, \"BOB\"]", "[7,\"bob\"]"}},
};
#define KIND_COUNT (sizeof KINDS / sizeof *KINDS)

static bool is_asked(size_t kind, size_t spelling) {
  return is_tried((int)(kind + spelling));
}

static bool has_citext(struct fixture *f) {
  return ask_number(f->at_source, "select count(*) from pg_available_extensions where name = 'citext'") > 0;
}

/* Tables of all kinds, captured; v is the row's value. */
static void begin(struct fixture *f, const char *name) {
  fixture_begin(f, name);
  sql(f->at_source, "create collation ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false); %s",
      has_citext(f) ? "create extension citext" : "create domain citext as text collate ci");
  for (size_t i = 0; i < KIND_COUNT; i++)
    sql(f->at_source, "create table %s (v int, %s); select rowrelay.capture_table('%s')", KINDS[i].table,
        KINDS[i].columns, KINDS[i].table);
}

static void tick(PGconn *connection) {
  while (ask_number(connection, "select rowrelay.tick(at_once => true)") > 0)
    ;
}

/* A row is written under one spelling, deleted, and written again under another; another row is written too. */
static void live(struct fixture *f, bool ticking) {
  for (size_t i = 0; i < KIND_COUNT; i++)
    sql(f->at_source, "insert into %s values (1, %s), (10, %s)", KINDS[i].table, KINDS[i].key, KINDS[i].other);
  if (ticking)
    tick(f->at_source);
  for (size_t i = 0; i < KIND_COUNT; i++)
    sql(f->at_source, "delete from %s where v = 1; insert into %s values (2, %s)", KINDS[i].table, KINDS[i].table,
        KINDS[i].again);
}

static const char *life(PGconn *connection, const char *table, const char *key) {
  return ask(connection,
             "select string_agg(concat_ws(' ', op, new_row ->> 'v'), ', ' order by change_id) "
             "from rowrelay.history_of('%s', '%s')",
             table, key);
}

static void check_lives(struct fixture *f, const char *moment) {
  for (size_t i = 0; i < KIND_COUNT; i++)
    for (size_t n = 0; n < sizeof KINDS[i].asked / sizeof *KINDS[i].asked; n++) {
      const char *asked = KINDS[i].asked[n];
      if (!is_asked(i, n))
        continue;
      cr_expect_str_eq(life(f->at_source, KINDS[i].table, asked), "insert 1, delete, insert 2", "%s: %s %s", moment,
                       KINDS[i].table, asked);
      cr_expect_str_eq(
          ask(f->at_source, "select count(*) from rowrelay.changes_of_key('%s', '%s')", KINDS[i].table, asked), "3",
          "%s: %s %s", moment, KINDS[i].table, asked);
    }
}

Test(spelling, the_whole_life_of_a_row_is_found_under_each_spelling) {
  struct fixture f;
  begin(&f, "spelling_life");
  live(&f, true);
  check_lives(&f, "half of it is indexed");
  tick(f.at_source);
  check_lives(&f, "all is indexed");
  cr_expect_str_eq(ask(f.at_source, "select string_agg(key, ' ' order by change_id) "
                                    "from rowrelay.history_of('word', 'bob')"),
                   "Bob Bob BOB", "each change shows the key as it was logged");
  for (size_t i = 0; i < KIND_COUNT; i++)
    for (size_t n = 0; n < 3; n++) {
      if (!is_asked(i, n))
        continue;
      const char *said = rowrelay_ok(&f, "log", "--oneline", "--", KINDS[i].table, KINDS[i].asked[n], NULL);
      int lines = 0;
      for (const char *at = said; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
      cr_expect(lines == 3, "%s %s: %s", KINDS[i].table, KINDS[i].asked[n], said);
    }
  fixture_end(&f);
}

Test(spelling, without_any_tick_all_spellings_are_found) {
  struct fixture f;
  begin(&f, "spelling_unindexed");
  live(&f, false);
  check_lives(&f, "nothing is indexed");
  fixture_end(&f);
}

/* ---- the index ------------------------------------------------------------------------------------------------- */

/* What version 1 left: no change is indexed under the hash of its row. */
static void index_as_version_1(PGconn *connection) {
  sql(connection, "truncate rowrelay.row_hashing; truncate rowrelay.change_key;"
                  "insert into rowrelay.change_key select c.id, c.day, rowrelay.key_hash(c.capture, c.key) "
                  "  from rowrelay.change c");
}

static int64_t indexed_twice(PGconn *connection) {
  return ask_number(connection, "select count(*) from rowrelay.change c join rowrelay.capture k on k.id = c.capture "
                                "where not k.key_is_exact and c.key is not null and "
                                "(select count(*) from rowrelay.change_key i where i.change_id = c.id) > 1");
}

Test(spelling, what_an_older_version_indexed_is_found_and_indexed_again_in_pieces) {
  struct fixture f;
  begin(&f, "spelling_upgraded");
  live(&f, true);
  tick(f.at_source);
  int64_t wanted = indexed_twice(f.at_source);
  cr_assert(wanted == 4 * 6);
  index_as_version_1(f.at_source);
  cr_assert(indexed_twice(f.at_source) == 0);
  check_lives(&f, "as version 1 left it");
  int pieces = 0;
  for (; ask_number(f.at_source, "select rowrelay.tick(5, true)") == 5; pieces++) {
    check_lives(&f, "while it is indexed");
    if (pieces == 2)
      sql(f.at_source, "insert into word values (3, 'Cid')");
  }
  cr_expect(pieces >= 5);
  cr_expect(ask_number(f.at_source, "select sum(above_id) from rowrelay.row_hashing") == 0);
  cr_expect(indexed_twice(f.at_source) == wanted + 1);
  check_lives(&f, "indexed again");
  fixture_end(&f);
}

/* A collation of another version, after an update of the operating system, hashes in another way. */
Test(spelling, when_hashes_are_computed_in_another_way_all_is_found_and_indexed_again) {
  struct fixture f;
  begin(&f, "spelling_version");
  live(&f, true);
  tick(f.at_source);
  sql(f.at_source, "update rowrelay.row_hashing set method = 'another';"
                   "delete from rowrelay.change_key i using rowrelay.change c where c.id = i.change_id "
                   "  and i.key_hash <> rowrelay.key_hash(c.capture, c.key)");
  check_lives(&f, "nobody has noticed");
  sql(f.at_source, "update rowrelay.tick set taken_at = taken_at - interval '1 min'");
  tick(f.at_source);
  cr_expect(indexed_twice(f.at_source) == 4 * 6);
  check_lives(&f, "indexed again");
  fixture_end(&f);
}

/* So many tables that a tick does not look at all of them. */
Test(spelling, many_tables_are_all_indexed_in_the_end) {
  struct fixture f;
  fixture_begin(&f, "spelling_many");
  sql(f.at_source, "do $$begin for n in 1..25 loop execute format('create table t%%s (k float8 primary key)', n);"
                   "  perform rowrelay.capture_table(format('t%%s', n)::regclass);"
                   "  execute format('insert into t%%s values (0)', n); end loop; end$$");
  for (int i = 0; i < 3; i++)
    tick(f.at_source);
  cr_expect(ask_number(f.at_source, "select count(*) from rowrelay.row_hashing where above_id = 0") == 25);
  for (int n = 1; n <= 25; n += 12) {
    char table[8];
    snprintf(table, sizeof table, "t%d", n);
    cr_expect_str_eq(life(f.at_source, table, "-0"), "insert");
  }
  fixture_end(&f);
}

Test(spelling, a_restored_day_is_found_under_each_spelling) {
  struct fixture f;
  begin(&f, "spelling_restored");
  live(&f, true);
  tick(f.at_source);
  const char *day = past_move(f.at_source, 40);
  past_close(f.at_source);
  check_lives(&f, "on another day");
  sql(f.at_source, "delete from rowrelay.change_key where day = '%s'; select rowrelay.index_day('%s')", day, day);
  cr_expect(indexed_twice(f.at_source) == 4 * 6);
  check_lives(&f, "restored");
  fixture_end(&f);
}

Test(spelling, the_key_of_a_table_may_get_another_type_or_go_with_the_table) {
  struct fixture f;
  begin(&f, "spelling_altered");
  live(&f, true);
  tick(f.at_source);
  sql(f.at_source, "truncate word; alter table word alter k type float8 using 0; select rowrelay.maintain();"
                   "insert into word values (1, '0'); delete from word; insert into word values (2, '-0')");
  for (int i = 0; i < 2; i++) {
    cr_expect_str_eq(life(f.at_source, "word", "0.0"), "insert 1, delete, insert 2");
    /* an old key, which is no number, is known by its text only */
    cr_expect_str_eq(life(f.at_source, "word", "Bob"), "insert 1, delete, truncate");
    cr_expect_str_eq(life(f.at_source, "word", "bob"), "");
    tick(f.at_source);
  }
  char oid[16];
  snprintf(oid, sizeof oid, "%s", ask(f.at_source, "select 'number'::regclass::oid"));
  sql(f.at_source, "drop table number");
  for (int i = 0; i < 2; i++) {
    cr_expect_str_eq(life(f.at_source, oid, "0"), "insert 1, delete");
    cr_expect_str_eq(life(f.at_source, oid, "-0"), "insert 2");
    sql(f.at_source, "insert into person values (5, 'x%d')", i);
    tick(f.at_source);
  }
  fixture_end(&f);
}

/* ---- who asks -------------------------------------------------------------------------------------------------- */

Test(spelling, a_reader_finds_all_spellings_only_in_tables_that_he_may_read) {
  struct shop s;
  people_begin(&s, "spelling_reader");
  PGconn *super = s.fixture.at_source;
  sql(super, "create table shop.open (k float8 primary key, v int); create table shop.closed (k float8 primary key, "
             "v int); alter table shop.open owner to keeper; alter table shop.closed owner to keeper;"
             "grant select on shop.open to anna");
  sql(s.as_boss, "select rowrelay.capture_table('shop.open'), rowrelay.capture_table('shop.closed')");
  sql(super, "insert into shop.open values ('-0', 1); delete from shop.open; insert into shop.open values ('0', 2);"
             "insert into shop.closed values ('-0', 1); delete from shop.closed; insert into shop.closed values "
             "('0', 2)");
  for (int i = 0; i < 2; i++) {
    cr_expect_str_eq(life(s.as_anna, "shop.open", "0"), "insert 1, delete, insert 2");
    cr_expect_str_eq(life(s.as_boss, "shop.closed", "0"), "insert 1, delete, insert 2");
    cr_expect_str_eq(life(s.as_anna, "shop.closed", "0"), "");
    cr_expect_str_eq(ask(s.as_anna, "select rowrelay.spellings(array(select c.id from rowrelay.capture c "
                                    "where c.relation = 'shop.closed'::regclass), '{0}')"),
                     "{0}", "he is told how keys are spelled");
    tick(super);
  }
  people_end(&s);
}

/* Its first change, or its last one. */
static int64_t id_of(struct fixture *f, const char *table, const char *which) {
  return ask_number(f->at_source,
                    "select %s(h.id) from rowrelay.change h join rowrelay.capture c on c.id = h.capture "
                    "where c.relation = '%s'::regclass",
                    which, table);
}

/* A cast of the owner of a type must not run with the rights of the schema's owner; then only texts are compared. */
Test(spelling, a_cast_of_the_types_owner_is_not_called) {
  struct fixture f;
  fixture_begin(&f, "spelling_cast");
  sql(f.at_source, "create type mark as (a float8, b int); create table item (k mark primary key, v int);"
                   "create sequence calls; create function called(t text) returns mark language plpgsql as "
                   "$$begin perform nextval('calls'); return row(1, 1)::mark; end$$;"
                   "create cast (text as mark) with function called(text); select rowrelay.capture_table('item');"
                   "insert into item values (row('-0', 1)::mark, 1)");
  for (int i = 0; i < 2; i++) {
    cr_expect_str_eq(ask(f.at_source, "select hash from rowrelay.row_hashes('{1}', '{\"(0,1)\"}')"), "0");
    cr_expect_str_eq(ask(f.at_source, "select rowrelay.is_same_key(1, '(0,1)', '(-0,1)') is null"), "t");
    cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.changes_of_key('item', '(-0,1)')"), "1");
    tick(f.at_source);
  }
  cr_expect_str_eq(ask(f.at_source, "select is_called from calls"), "f");
  fixture_end(&f);
}

/* An update of the key to another spelling is undone, and nothing before a later change is. */
Test(spelling, a_later_change_under_another_spelling_is_not_undone_over) {
  struct fixture f;
  begin(&f, "spelling_undo");
  live(&f, true);
  for (int i = 0; i < 2; i++) {
    for (size_t n = 0; n < KIND_COUNT; n++) {
      const struct kind *kind = &KINDS[n];
      char change[32];
      snprintf(change, sizeof change, "%lld", (long long)id_of(&f, kind->table, "min"));
      const char *errors;
      cr_expect(rowrelay(&f, NULL, &errors, "undo", kind->table, kind->asked[0], change, NULL) != 0, "%s", kind->table);
      cr_expect(strstr(errors, "was changed again later") != NULL, "%s: %s", kind->table, errors);
      snprintf(change, sizeof change, "%lld", (long long)id_of(&f, kind->table, "max"));
      rowrelay_ok(&f, "undo", kind->table, kind->asked[2], change, NULL);
    }
    tick(f.at_source);
  }
  sql(f.at_source, "update word set k = 'bob' where v = 2; update pair set k = 'bOb', v = 3 where v = 2;");
  tick(f.at_source);
  sql(f.at_source, "select rowrelay.undo('word', 'BOB', %lld, true), rowrelay.undo('pair', '[7, \"bOb\"]', %lld, true)",
      (long long)id_of(&f, "word", "max"), (long long)id_of(&f, "pair", "max"));
  cr_expect_str_eq(ask(f.at_source, "select string_agg(concat(k, v), ' ' order by v) from word"), "BOB2 Ann10");
  cr_expect_str_eq(ask(f.at_source, "select string_agg(concat(g, k, v), ' ' order by v) from pair"), "7BOB2 8Bob10");
  fixture_end(&f);
}

Test(spelling, a_transaction_that_wrote_a_row_under_several_spellings_is_undone) {
  struct fixture f;
  begin(&f, "spelling_transaction");
  sql(f.at_source, "insert into word values (1, 'Bob'); insert into number values (1, '0'), (10, '1')");
  sql(f.at_source, "begin; update word set v = 2; delete from word; insert into word values (3, 'BOB');"
                   "update word set v = 4; update number set k = '-0', v = 2 where v = 1; commit");
  for (int i = 0; i < 2; i++) {
    const char *txid = ask(f.at_source, "select max(h.txid::text::bigint) from rowrelay.change h where h.op = 'u'");
    sql(f.at_source, "begin; select rowrelay.undo_transaction('%s', true)", txid);
    cr_expect_str_eq(ask(f.at_source, "select string_agg(concat(k, v), ' ') from word"), "Bob1");
    cr_expect_str_eq(ask(f.at_source, "select string_agg(concat(k, ' ', v), ', ' order by v) from number"),
                     "0 1, 1 10");
    sql(f.at_source, "rollback");
    tick(f.at_source);
  }
  sql(f.at_source, "update word set v = 5 where k = 'bob'");
  cr_expect_str_eq(sql_fails(f.at_source, "select rowrelay.undo_transaction((select min(h.txid::text::bigint) from "
                                          "rowrelay.change h where h.op = 'u')::text::xid8)"),
                   "55000");
  fixture_end(&f);
}

Test(spelling, a_row_as_it_was_is_found_under_each_spelling) {
  struct fixture f;
  begin(&f, "spelling_past");
  live(&f, true);
  for (int i = 0; i < 2; i++) {
    char early[64];
    snprintf(early, sizeof early, "%s",
             ask(f.at_source, "select max(captured_at) from rowrelay.change h "
                              "where h.op = 'i' and h.new_row ->> 'v' = '10'"));
    for (size_t k = 0; k < KIND_COUNT; k++)
      for (size_t n = 0; n < 3; n++) {
        if (!is_asked(k, n))
          continue;
        cr_expect_str_eq(ask(f.at_source,
                             "select string_agg(v::text, ' ') from rowrelay.row_as_of(null::%s, '%s', '%s')",
                             KINDS[k].table, KINDS[k].asked[n], early),
                         "1", "%s %s", KINDS[k].table, KINDS[k].asked[n]);
        cr_expect_str_eq(ask(f.at_source,
                             "select string_agg(v::text, ' ') from rowrelay.row_as_of(null::%s, '%s', now())",
                             KINDS[k].table, KINDS[k].asked[n]),
                         "2", "%s %s", KINDS[k].table, KINDS[k].asked[n]);
      }
    tick(f.at_source);
  }
  fixture_end(&f);
}

Test(spelling, whoever_follows_a_row_is_shown_its_other_spellings) {
  struct fixture f;
  begin(&f, "spelling_follow");
  sql(f.at_source, "insert into word values (1, 'Bob')");
  pid_t process = fixture_start(&f, "log", "word", "bob", "--follow", "--oneline", NULL);
  wait_until_says(process, "Bob", 5);
  sql(f.at_source, "delete from word; insert into word values (1, 'Ann'), (2, 'BOB')");
  wait_until_says(process, "BOB", 5);
  cr_expect(strstr(process_log(process), "Ann") == NULL, "%s", process_log(process));
  stop_process(process, SIGTERM);
  fixture_end(&f);
}
