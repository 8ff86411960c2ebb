/* Rows count as equal when a mirror has what was delivered, whatever types its columns have; and only then. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mirrored.h"
#include "samples.h"
#include "verified.h"

/* A mirror of each table of samples whose columns have these types; NULL: the source's own. */
struct kind {
  const char *name;
  const char *type;
  const char *array; /* that of the column with arrays */
};
static const struct kind KINDS[] = {
    {"same", NULL, NULL},        {"text", "text", "text"},       {"json", "json", "json"},
    {"jsonb", "jsonb", "jsonb"}, {"texts", "varchar", "text[]"},
};
enum { KIND_COUNT = sizeof KINDS / sizeof *KINDS };

/* Samples stand in tables of some columns each, so that there need not be hundreds. */
#define GROUP 20
#define GROUPS ((SAMPLE_COUNT + GROUP - 1) / GROUP)

/* The columns of group g: vN and aN for each of its samples. The type NULL is the sample's own. */
static void add_columns(struct fixture *f, PGconn *at, const char *table, int g, const struct kind *kind) {
  for (int i = g * GROUP; i < (g + 1) * GROUP && i < SAMPLE_COUNT; i++) {
    const char *own = SAMPLES[i].type;
    if (samples_known(f, i))
      sql(at, "alter table %s add v%d %s, add a%d %s%s", table, i, kind->type != NULL ? kind->type : own, i,
          kind->type != NULL ? kind->array : own, kind->type != NULL ? "" : "[]");
  }
}

/* Tables wide.gN with the rows of many.tN, of which `sample` names the N; and their mirrors KIND.gN. */
static void make_tables(struct fixture *f) {
  sql(f->at_source, "%s; create schema wide; create table wrong (t text, key text)", SAMPLES_TYPES);
  sql(f->at_target, "%s", SAMPLES_TYPES);
  for (int g = 0; g < GROUPS; g++) {
    char table[32];
    snprintf(table, sizeof table, "wide.g%d", g);
    sql(f->at_source, "create table %s (id int generated always as identity primary key, sample int)", table);
    add_columns(f, f->at_source, table, g, &KINDS[0]);
  }
  rowrelay_ok(f, "capture", "wide.*", NULL);
  for (int k = 0; k < KIND_COUNT; k++) {
    sql(f->at_target, "create schema %s", KINDS[k].name);
    rowrelay_ok(f, "target", "add", KINDS[k].name, f->target_url, "--option", "retries=0", NULL);
    for (int g = 0; g < GROUPS; g++) {
      char table[32];
      snprintf(table, sizeof table, "%s.g%d", KINDS[k].name, g);
      sql(f->at_target, "create table %s (id int primary key, sample int)", table);
      add_columns(f, f->at_target, table, g, &KINDS[k]);
      sql(f->at_source, "select rowrelay.route('wide.g%d', '%s', into_table => '%s')", g, KINDS[k].name, table);
    }
  }
}

static void fill_tables(struct fixture *f) {
  samples_make(f, "");
  samples_fill(f);
  for (int i = 0; i < SAMPLE_COUNT; i++)
    if (samples_known(f, i))
      sql(f->at_source, "insert into wide.g%d (sample, v%d, a%d) select %d, v, a from many.t%d", i / GROUP, i, i, i, i);
}

/* Delivers what can be; what a mirror's type cannot have is refused. */
static void deliver(struct fixture *f) {
  rowrelay_ok(f, "run", "--until-empty", NULL);
}

/*
 * What verify finds and should not, and the other way round: "TYPE: KEY" of each. It should find what was refused, and
 * what table wrong (t, key) names.
 */
static void is_right(struct fixture *f, const char *kind, const char *when) {
  const char *said;
  const char *complained;
  rowrelay(f, &said, &complained, "verify", kind, "--json", "--limit", "100000", NULL);
  char *literal = PQescapeLiteral(f->at_source, said, strlen(said));
  const char *result = ask(
      f->at_source,
      "with found as (select t ->> 'table' as t, d ->> 'key' as key from json_array_elements(%s::json -> 'tables') as "
      "t, "
      "  json_array_elements(t -> 'found') as d), "
      "wanted as (select relation::text, key from rowrelay.errors where target = '%s' union select * from wrong), "
      "compared as (select t ->> 'table' as t, t ->> 'rows' as n from json_array_elements(%s::json -> 'tables') as t) "
      "select string_agg(m, E'\\n') from ("
      "  select format('%%s found %%s: %%s', t, key, (select row(r.*)::text from wrong r where r.t = f.t limit 1)) as "
      "m "
      "    from (table found except table wanted) as f "
      "  union all select format('%%s not found %%s', relation, key) from (table wanted except table found) as w "
      "  union all select format('%%s not compared', c.oid::regclass) from pg_class c "
      "    where c.relnamespace = 'wide'::regnamespace and c.relkind = 'r' and not exists (select from compared where "
      "      t = c.oid::regclass::text and n is not null)) as m",
      literal, kind, literal);
  PQfreemem(literal);
  cr_expect(result[0] == '\0', "%s, %s: %s", kind, when, result);
}

/* Gives each row the value of the next one of its sample, where this is another, and notes its key in table wrong. */
static void damage(struct fixture *f, const struct kind *kind) {
  for (int i = 0; i < SAMPLE_COUNT; i++) {
    if (!samples_known(f, i))
      continue;
    const char *keys =
        ask(f->at_target,
            "with next as (select id, lead(v%d) over w as v, lead(a%d) over w as a from %s.g%d where sample = %d "
            "              window w as (order by id)), "
            "damaged as (update %s.g%d as t set v%d = n.v, a%d = n.a from next n where n.id = t.id "
            "  and format('%%L!%%L', t.v%d, t.a%d) <> format('%%L!%%L', n.v, n.a) returning t.id) "
            "select array_agg(id) from damaged",
            i, i, kind->name, i / GROUP, i, kind->name, i / GROUP, i, i, i, i);
    sql(f->at_source, "insert into wrong select 'wide.g%d', unnest(nullif('%s', '')::text[])", i / GROUP, keys);
  }
}

Test(verify_types, what_was_delivered_is_equal_and_what_is_damaged_is_found_and_repaired, .timeout = 300) {
  struct fixture f;
  fixture_begin(&f, "verify_types");
  make_tables(&f);
  fill_tables(&f);
  deliver(&f);
  for (int k = 0; k < KIND_COUNT; k++)
    is_right(&f, KINDS[k].name, "delivered");
  for (int k = 0; k < KIND_COUNT; k++) {
    if (!is_tried_of(k, 7))
      continue;
    damage(&f, &KINDS[k]);
    cr_expect(ask_number(f.at_source, "select count(*) from wrong") > 500);
    is_right(&f, KINDS[k].name, "damaged");
    rowrelay(&f, NULL, NULL, "verify", KINDS[k].name, "--repair", NULL);
    sql(f.at_source, "truncate wrong");
  }
  deliver(&f);
  for (int k = 0; k < KIND_COUNT; k++)
    is_right(&f, KINDS[k].name, "repaired");
  fixture_end(&f);
}
