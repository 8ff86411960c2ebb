/*
 * A column may have any name, also one that means something to the functions which capture its table. So there are
 * tables here whose columns are called like all that is named in any function of schema rowrelay, those made for tables
 * among them. What is captured of each has to be what is captured, in the same way, of a table whose columns have names
 * that nothing else has; and no row may take the slow way that does not take it there.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

enum { MOST_COLUMNS = 330, STEPS = 40 };

/* How a table is captured, and what it has besides. */
static const struct way {
  const char *options; /* %1$I is a column */
  const char *more;    /* statements that come before; %1$s is the table */
  bool with_all;       /* with all words, not only those of the first table, which has those of made functions */
} WAYS[] = {
    {"null", "", false},
    {"null, before => 'full'", "", false},
    {"'{}'", "", true},
    {"null, row_filter => 'id > 0'", "", true},
    {"null, lane => '{rr_time}', mask => json_build_object(%1$L, null)::jsonb", "", false},
    {"null, before => 'full'", "alter table %1$s add rr_json json default ' {}'", false},
    {"null", "create table %1$s_heir () inherits (%1$s)", false},
    {"null, per => 'statement'", "", true},
    {"null, before => 'full', per => 'statement'", "", false},
};
enum { WAY_COUNT = sizeof WAYS / sizeof *WAYS };

static const char SCRIPT[] =
    "create schema words; set search_path = words, public; create type words.mood as enum ('sad');"
    "create table words.sample (id int primary key, rr_time timestamptz, v text);"
    /* the columns that have a word for a name */
    "create function words.columns_of(t regclass) returns setof name language sql stable as $$"
    "  select a.attname from pg_attribute a where a.attrelid = t and a.attnum > 0 and not a.attisdropped"
    "   and a.attname <> all ('{id,rr_time,rr_json,rr_mood}') order by a.attnum $$;"
    "create function words.inserted(t regclass, ids text, v text) returns text language sql stable as $$"
    "  select format('insert into %s (id, rr_time%s) select n, ''2024-03-04 05:06:07+00''%s from %s as n;', t,"
    "                string_agg(format(', %I', c), ''), string_agg(', ' || quote_nullable(v), ''), ids)"
    "    from words.columns_of(t) as c $$;"
    "create function words.updated(t regclass, v text, condition text) returns text language sql stable as $$"
    "  select format('update %s as t set %s where %s;', t, string_agg(format('%I = %s', c, quote_nullable(v)), ', '),"
    "                condition) from words.columns_of(t) as c $$;"
    /* what is written to a table, in transactions; v are four values */
    "create function words.steps(t regclass, v text[], has_many bool, out step text) returns setof text "
    "language sql stable as $$"
    "  select words.inserted(t, format('generate_series(%1$s, %1$s)', n), v[n]) from generate_series(1, 4) as n"
    "  union all select words.inserted(t, 'generate_series(5, 9)', v[n]) from generate_series(1, 1) as n"
    "  union all select words.updated(t, v[n], 'id = ' || n % 4 + 1) from generate_series(1, 4) as n"
    "  union all select words.updated(t, v[n], 'id < 8') from generate_series(2, 4) as n"
    "  union all select format('update %s set id = 100 where id = 2', t)"
    "  union all select format('update %s set id = id + 200 where id between 5 and 8', t)"
    "  union all select format('update %s set id = -3 where id = 3; update %1$s set id = 3 where id = -3', t)"
    "  union all select format('select from %s where id = 1 for update;', t) || words.updated(t, v[2], 'id = 1')"
    "  union all select words.inserted(t, 'generate_series(300, 301)', v[1]) || words.updated(t, v[2], 'id = 300')"
    "    || format('update %s set rr_time = null where id = 300; select from %1$s where id = 300 for update;', t)"
    "    || words.updated(t, v[1], 'id = 300') || format('delete from %s where id = 300;', t)"
    "    || words.inserted(t, 'generate_series(300, 300)', v[2])"
    "    || format('update %s set id = 302 where id = 300; update %1$s set id = id + 10 where id >= 301;', t)"
    "  union all select format('delete from %s where id = 1', t)"
    "  union all select format('delete from %s where id between 205 and 206; delete from %1$s where id = 4;', t)"
    "    || words.inserted(t, 'generate_series(4, 4)', v[1])"
    "  union all select 'set local session_replication_role = replica;' || words.inserted(t, 'generate_series(20, "
    "21)', "
    "      v[1]) || words.updated(t, v[2], 'id >= 20') || format('delete from %s where id >= 20', t)"
    "  union all select 'set local time zone interval ''+01:02:03'';' || words.inserted(t, 'generate_series(30, 31)', "
    "      v[1]) || words.updated(t, v[2], 'id >= 30') || words.updated(t, v[1], 'id = 30')"
    "    || format('delete from %s where id = 31', t)"
    "  union all select words.inserted(t, 'generate_series(1001, 2100)', v[1]) || words.updated(t, v[2], 'id > 1000')"
    "    || format('update %s set id = id + 5000 where id > 1000; delete from %1$s where id > 1000', t) where has_many"
    "  union all select format('alter table %s add rr_mood words.mood default ''sad''', t)"
    "  union all select words.inserted(t, 'generate_series(40, 44)', v[1])"
    "  union all select words.updated(t, v[2], 'id = 40')"
    "  union all select words.updated(t, v[1], 'id >= 40')"
    "  union all select format('update %s set id = 50 where id = 41', t)"
    "  union all select format('delete from %s where id = 50', t)"
    "  union all select format('delete from %s where id >= 40', t) $$;"
    /* what was captured of a table; the images' names are those of the first columns, or of the key */
    "create function words.told(t regclass) returns table (n bigint, told text) language sql stable as $$"
    "  with named as materialized (select array_agg(a.attname::text order by a.attnum) as names from pg_attribute a"
    "                               where a.attrelid = t and a.attnum > 0 and not a.attisdropped)"
    "  select row_number() over (order by coalesce(h.key, h.new_row ->> 'id', h.old_row ->> 'id'), h.id),"
    "         concat_ws('|', h.op, coalesce(h.key, '-'), h.caveat, 'old',"
    "         (select string_agg(coalesce(j.value, '-'), ',') from json_each_text(h.old_row) as j), 'new',"
    "         (select string_agg(coalesce(j.value, '-'), ',') from json_each_text(h.new_row) as j),"
    "         (select 'not the names of the columns' from json_object_keys(h.old_row) as k"
    "          having array_agg(k) <> w.names[1:count(*)]), (select 'nor these' from json_object_keys(h.new_row) as k"
    "          having array_agg(k) <> w.names[1:count(*)]))"
    "    from named w cross join rowrelay.change h join rowrelay.capture c on c.id = h.capture where c.relation = t "
    "$$;";

/* Makes a table with the words from number `first` on as names of columns, or, -1, with names of no meaning. */
static void capture(struct fixture *f, const char *table, const struct way *way, const char *type, int first) {
  sql(f->at_source, "%s",
      ask(f->at_source,
          "select format('create table words.%s (id int primary key, rr_time timestamptz, %%s)', "
          "string_agg(format('%%I "
          "%s', w.name), ', ' order by w.n)) from (select n, case when %d < 0 then 'zz_' || n else word end as name "
          "from words.word where n > greatest(%d, 0) and n <= greatest(%d, 0) + %d) as w",
          table, type, first, first, first, MOST_COLUMNS));
  if (way->more[0] != '\0')
    sql(f->at_source, "%s", ask(f->at_source, "select format($$%s$$, 'words.%s')", way->more, table));
  sql(f->at_source, "%s",
      ask(f->at_source,
          "select format($$select rowrelay.capture_table('words.%s', %s, target => 'w')$$, c) from "
          "words.columns_of('words.%s') as c limit 1",
          table, way->options, table));
}

/* How many rows have taken the slow way in this transaction, or in those since the server was last told of them. */
static int64_t taken_slowly(PGconn *writer) {
  return ask_number(writer, "select coalesce(sum(calls), 0) from pg_stat_xact_user_functions where schemaname = "
                            "'rowrelay' and funcname in ('record_row', 'record_key')");
}

/* Does all that is to be done to a table; `slow` gets how many rows took the slow way in each step. */
static int write_to(PGconn *writer, const char *table, const char *values, bool has_many, int64_t slow[STEPS]) {
  PGresult *steps = PQexec(writer, ask(writer,
                                       "select format('select step from words.steps(%%L, %%L, %%L)', "
                                       "'words.%s', '%s', '%d')",
                                       table, values, has_many));
  cr_assert(PQresultStatus(steps) == PGRES_TUPLES_OK, "%s", PQerrorMessage(writer));
  int count = PQntuples(steps);
  cr_assert(count <= STEPS, "%d steps", count);
  for (int i = 0; i < count; i++) {
    sql(writer, "begin");
    slow[i] = taken_slowly(writer);
    PGresult *result = PQexec(writer, PQgetvalue(steps, i, 0));
    cr_assert(PQresultStatus(result) == PGRES_COMMAND_OK || PQresultStatus(result) == PGRES_TUPLES_OK,
              "table %s: %.200s: %s", table, PQgetvalue(steps, i, 0), PQerrorMessage(writer));
    PQclear(result);
    slow[i] = taken_slowly(writer) - slow[i];
    sql(writer, "commit");
  }
  PQclear(steps);
  return count;
}

/* All that may be the name of something in a function made for a table, then in statements that others put together. */
static int gather_words(struct fixture *f) {
  for (int way = 0; way < WAY_COUNT; way++) {
    char table[32];
    snprintf(table, sizeof table, "sample_%d", way);
    sql(f->at_source, "create table words.%s (like words.sample including all)", table);
    if (WAYS[way].more[0] != '\0')
      sql(f->at_source, "%s", ask(f->at_source, "select format($$%s$$, 'words.%s')", WAYS[way].more, table));
    sql(f->at_source, "%s",
        ask(f->at_source,
            "select format($$select rowrelay.capture_table('words.%s', %s, target => "
            "'w')$$, 'v')",
            table, WAYS[way].options));
  }
  sql(f->at_source,
      "create table words.word as "
      "with made as materialized (select p.proname ~ '^capture_[0-9]' as is_made, regexp_replace(p.prosrc, "
      "'--[^\n]*', '', 'g') as body from pg_proc p where p.pronamespace = 'rowrelay'::regnamespace), "
      "text as (select m.body, 1 as rank from made m where m.is_made union all select t[1], 2 from made m cross join "
      "regexp_matches(m.body, '(''(?:[^'']|'''')*''|[$][a-z]+[$].*?[$][a-z]+[$])', 'g') as t "
      "where m.body ~ 'format[(]|execute ') "
      "select row_number() over (order by min(t.rank), w.word) as n, w.word from text t cross join "
      "lateral (select left(lower(m[1]), 60) collate \"C\" from regexp_matches(t.body, '([[:alpha:]_][[:alnum:]_]*)', "
      "'g') as m) as w(word) "
      "where w.word <> all ('{id,rr_time,rr_json,rr_mood,ctid,xmin,xmax,cmin,cmax,tableoid}') group by w.word");
  return (int)ask_number(f->at_source, "select count(*) from words.word");
}

static void same_changes(struct fixture *f, const char *table, const char *twin) {
  const char *otherwise = ask(
      f->at_source,
      "select concat(left(a.told, 300), ' -- instead of ', left(b.told, 300)) from words.told('words.%s') as a full "
      "join words.told('words.%s') as b using (n) where a.told is distinct from b.told order by n limit 1",
      table, twin);
  cr_expect(otherwise[0] == '\0', "table %s: %s", table, otherwise);
}

/* With columns of this type, and four values for them. */
static void same_by_any_name(const char *name, const char *type, const char *values, bool with_all) {
  struct fixture f;
  fixture_begin(&f, name);
  rowrelay_ok(&f, "target", "add", "w", "file:/dev/null", NULL);
  sql(f.at_source, "%s", SCRIPT);
  int words = gather_words(&f);
  cr_assert(words > MOST_COLUMNS, "%d words", words);
  sql(f.at_source, "set track_functions = 'all'");
  for (int way = 0; way < WAY_COUNT; way++) {
    if (!is_tried_of(way, 7))
      continue;
    bool has_many = strstr(WAYS[way].options, "statement") != NULL;
    char twin[32], table[32];
    int64_t twin_slow[STEPS], slow[STEPS];
    snprintf(twin, sizeof twin, "twin_%d", way);
    capture(&f, twin, &WAYS[way], type, -1);
    write_to(f.at_source, twin, values, has_many, twin_slow);
    for (int n = 0, first = 0; first < words && (n == 0 || (with_all && WAYS[way].with_all));
         n++, first += MOST_COLUMNS) {
      /* the last table has some of the words again, because all have as many columns */
      int from = first + MOST_COLUMNS > words ? words - MOST_COLUMNS : first;
      snprintf(table, sizeof table, "words_%d_%d", way, n);
      capture(&f, table, &WAYS[way], type, from);
      int steps = write_to(f.at_source, table, values, has_many, slow);
      for (int i = 0; i < steps; i++)
        cr_expect(slow[i] == twin_slow[i], "table %s, step %d: %lld rows took the slow way, not %lld", table, i,
                  (long long)slow[i], (long long)twin_slow[i]);
      same_changes(&f, table, twin);
    }
  }
  fixture_end(&f);
}

Test(column_names, any_column_of_text_is_captured_by_any_name) {
  same_by_any_name("column_names_text", "text", "{DELETE,INSERT,UPDATE,\"(2,,x)\"}", true);
}

Test(column_names, any_column_of_another_type_is_captured_by_any_name) {
  same_by_any_name("column_names_int", "int", "{0,1,NULL,2}", false);
}

Test(column_names, a_row_of_the_past_is_shown_whatever_its_columns_are_called) {
  struct fixture f;
  fixture_begin(&f, "column_names_past");
  /* a table with a domain is read column by column */
  sql(f.at_source, "create domain positive as int check (value > 0);"
                   "create table item (id int primary key, rowrelay_row positive, i text, p text, x text);"
                   "select rowrelay.capture_table('item', before => 'full');"
                   "insert into item values (1, 5, 'a', 'b', 'c')");
  const char *moment = ask(f.at_source, "select clock_timestamp()");
  sql(f.at_source, "update item set rowrelay_row = 6, i = 'd', p = 'e', x = 'f'");
  const char *output = rowrelay_ok(&f, "log", "item", "1", "--as-of", moment, "--json", NULL);
  cr_expect_not_null(strstr(output, "{\"id\":1,\"rowrelay_row\":5,\"i\":\"a\",\"p\":\"b\",\"x\":\"c\"}"), "%s", output);
  fixture_end(&f);
}
