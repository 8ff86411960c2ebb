/*
 * Partitions and children are taken away, written to, and put back, all between two looks of maintenance: what was
 * written meanwhile fires no trigger of their table, and nothing of it may be silent. Nor may it be told where nothing
 * was put back.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "mirrored.h"

/* Tables p (partitioned), h (with children), q (partitions of partitions) and k (without a key), mirrored with rows. */
static void begin(struct fixture *f, const char *name) {
  mirrored_begin(f, name,
                 "create table p (id int primary key, v text) partition by range (id);"
                 "create table p1 partition of p for values from (0) to (10);"
                 "create table p2 partition of p for values from (10) to (20);"
                 "create table h (id int primary key, v text); create table h1 (primary key (id)) inherits (h);"
                 "create table q (id int primary key, v text) partition by range (id);"
                 "create table q1 partition of q for values from (0) to (20) partition by range (id);"
                 "create table q11 partition of q1 for values from (0) to (10);"
                 "create table k (id int, v text) partition by range (id);"
                 "create table k1 partition of k for values from (0) to (10)");
  rowrelay_ok(f, "capture", "p", "h", "q", "k", "--to", "w", "--create", NULL);
  sql(f->at_source, "insert into p values (1, 'a'), (2, 'a'), (11, 'a'); insert into h values (1, 'a');"
                    "insert into h1 values (2, 'a'), (3, 'a'); insert into q values (1, 'a'), (2, 'a');"
                    "insert into k values (1, 'a')");
  mirrored_deliver(f);
}

static const char *told(struct fixture *f) {
  return ask(f->at_source, "select string_agg(relation_name, ' ' order by relation_name) from rowrelay.gaps");
}

Test(put_back, what_was_written_meanwhile_is_told_until_it_is_repaired) {
  struct fixture f;
  begin(&f, "put_back");
  sql(f.at_source, "alter table p detach partition p1; delete from p1 where id = 1; update p1 set v = 'b';"
                   "insert into p1 values (3, 'b'); alter table p attach partition p1 for values from (0) to (10)");
  sql(f.at_source, "begin; alter table h1 no inherit h; delete from h1 where id = 2; update h1 set v = 'b';"
                   "alter table h1 inherit h; commit");
  sql(f.at_source, "alter table q detach partition q1; delete from q1 where id = 1; update q11 set v = 'b';"
                   "alter table q attach partition q1 for values from (0) to (20)");
  sql(f.at_source, "alter table k detach partition k1; truncate k1;"
                   "alter table k attach partition k1 for values from (0) to (10)");
  const char *done = ask(f.at_source, "select string_agg(m, E'\\n') from rowrelay.maintain() as m");
  cr_expect_not_null(
      strstr(done, "table public.p: what was written to public.p1 while it did not belong to it is not in the log: "
                   "in a shell, rowrelay verify w public.p --repair"),
      "%s", done);
  cr_assert_str_eq(told(&f), "public.h public.k public.p public.q");
  for (const char *const *table = (const char *[]){"p", "h", "q", NULL}; *table; table++) {
    cr_expect_eq(rowrelay(&f, NULL, NULL, "verify", "w", *table, "--repair", NULL), 3);
    mirrored_same(&f, *table);
  }
  sql(f.at_target, "truncate k");
  rowrelay_ok(&f, "backfill", "k", "--to", "w", NULL);
  mirrored_same(&f, "k");
  mirrored_maintain(&f);
  cr_assert_str_eq(told(&f), "");
  fixture_end(&f);
}

Test(put_back, nothing_is_told_of_parts_that_come_go_or_stay) {
  struct fixture f;
  begin(&f, "put_back_not");
  mirrored_maintain(&f);
  sql(f.at_source, "create table p3 partition of p for values from (20) to (30); insert into p values (21, 'a');"
                   "alter table p detach partition p2; drop table p2; create table h2 (primary key (id)) inherits (h);"
                   "alter table p add w int; alter table p1 rename to p_one; alter table h alter v set not null;"
                   "alter table k add primary key (id)");
  mirrored_maintain(&f);
  for (const char *const *statement = (const char *[]){"vacuum full p", "vacuum freeze pg_inherits",
                                                       "vacuum full pg_inherits", "cluster p_one using p1_pkey", NULL};
       *statement; statement++) {
    sql(f.at_source, "%s", *statement);
  }
  mirrored_maintain(&f);
  cr_assert_str_eq(told(&f), "");
  /* One that was away for longer came with rows. */
  sql(f.at_source, "alter table p detach partition p3");
  mirrored_maintain(&f);
  sql(f.at_source, "truncate p3");
  sql(f.at_source, "alter table p attach partition p3 for values from (20) to (30)");
  mirrored_maintain(&f);
  cr_assert_str_eq(told(&f), "public.p");
  fixture_end(&f);
}
