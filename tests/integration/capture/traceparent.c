/* What an application says of its trace, in setting rowrelay.traceparent, is kept with each change of the transaction.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "fixture.h"

#define TRACE "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
#define TRACED "begin; set local rowrelay.traceparent = '" TRACE "'; "

static struct fixture f;

static void begin(const char *name) {
  fixture_begin(&f, name);
  rowrelay_ok(&f, "target", "add", "w", "file:/dev/null", NULL);
}

static const char *caveats(void) {
  return ask(f.at_source, "select coalesce(string_agg(concat_ws(' ', op, caveat), E'\\n' order by id), '') from "
                          "rowrelay.change");
}

static void forget(void) {
  sql(f.at_source, "delete from rowrelay.queue; delete from rowrelay.change");
}

/* Every change that `statements` make is of the trace; how many there are. */
static int traced(const char *what, const char *statements) {
  forget();
  sql(f.at_source, TRACED "%s; commit", statements);
  cr_expect(ask_number(f.at_source, "select count(*) from rowrelay.change where caveat ->> 'traceparent' "
                                    "is distinct from '" TRACE "'") == 0,
            "%s: %s", what, caveats());
  return (int)ask_number(f.at_source, "select count(*) from rowrelay.change");
}

Test(traceparent, is_kept_with_each_change_however_it_is_captured) {
  begin("traceparent");
  sql(f.at_source, "create table plain (id int primary key, v int, j json);"
                   "create table before (like plain including all); create table stated (like plain including all);"
                   "create table filtered (like plain including all); create table keyless (v int);"
                   "create table many (like plain including all) partition by hash (id);"
                   "create table part partition of many for values with (modulus 1, remainder 0)");
  rowrelay_ok(&f, "capture", "plain", "--to", "w", NULL);
  rowrelay_ok(&f, "capture", "before", "--to", "w", "--before", NULL);
  rowrelay_ok(&f, "capture", "stated", "--to", "w", "--per", "statement", NULL);
  rowrelay_ok(&f, "capture", "filtered", "--to", "w", "--where", "v > 0", NULL);
  rowrelay_ok(&f, "capture", "keyless", "--to", "w", NULL);
  rowrelay_ok(&f, "capture", "many", "--to", "w", NULL);
  static const char *const TABLES[] = {"plain", "before", "stated", "filtered", "many"};
  for (size_t i = 0; i < sizeof TABLES / sizeof *TABLES; i++) {
    char statements[1000];
    snprintf(statements, sizeof statements,
             "insert into %1$s values (1, 1), (2, 2); insert into %1$s values (3, 3, 'null');"
             "update %1$s set v = v + 1; update %1$s set v = 0 where id = 2; update %1$s set id = 9 where id = 3;"
             "delete from %1$s where id = 1; insert into %1$s values (1, 5)",
             TABLES[i]);
    cr_expect(traced(TABLES[i], statements) >= 9, "%s", caveats());
  }
  cr_expect_eq(traced("keyless", "insert into keyless values (1), (2); update keyless set v = 3 where v = 1;"
                                 "delete from keyless where v = 2"),
               4);
  cr_expect_eq(traced("truncate", "truncate plain, stated, keyless"), 3);
  cr_expect_eq(traced("truncate of a hash partition", "truncate part"), 3);
  cr_expect_eq(traced("many rows of a statement", "insert into stated select i, i from generate_series(1, 1500) i"),
               1500);
  cr_expect_eq(traced("an altered table", "alter table plain rename v to w; insert into plain values (1, 1);"
                                          "alter table stated rename v to w; insert into stated values (0, 1)"),
               2);
  cr_expect_eq(traced("a large row", "insert into plain values (2, 2, to_json(repeat('x', 53000000)))"), 1);
  fixture_end(&f);
}

/* What else is known of a change stays known, and rows without a trace are as ever. */
Test(traceparent, stands_beside_what_else_is_known_of_a_change) {
  begin("traceparent_beside");
  sql(f.at_source, "create table item (id int primary key, j json)");
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source, TRACED "insert into item values (1, 'null'), (2, '1'); commit; insert into item values (3, 'null'), "
                          "(4, '1')");
  cr_expect_str_eq(caveats(), "i {\"text_columns\" : [\"j\"],\"traceparent\":\"" TRACE "\"}\n"
                              "i {\"traceparent\":\"" TRACE "\"}\n"
                              "i {\"text_columns\" : [\"j\"]}\ni");
  cr_expect_str_eq(ask(f.at_source, "select string_agg(distinct actor, ' ') from rowrelay.history"),
                   ask(f.at_source, "select session_user"));
  fixture_end(&f);
}

Test(traceparent, is_ignored_unless_it_is_one_and_no_writer_fails) {
  static const char *const OTHERS[] = {"",
                                       "x",
                                       "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
                                       "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",
                                       "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                                       "00-4BF92F3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                                       "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
                                       "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
                                       "00-4bf92f3577b34da6a3ce929d0e0e473600f067aa0ba902b7--01",
                                       "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-\"\\",
                                       "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0\n"};
  begin("traceparent_wrong");
  sql(f.at_source, "create table item (id int primary key); create table stated (id int primary key)");
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  rowrelay_ok(&f, "capture", "stated", "--to", "w", "--per", "statement", NULL);
  for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++)
    sql(f.at_source,
        "begin; set local rowrelay.traceparent = '%s'; insert into item values (%zu); insert into stated values (%zu); "
        "commit",
        OTHERS[i], i, i);
  sql(f.at_source, "begin; select set_config('rowrelay.traceparent', repeat('0', 10000000), true); "
                   "insert into item values (-1); insert into stated values (-1); commit");
  cr_expect(ask_number(f.at_source, "select count(*) from rowrelay.change where caveat is null") ==
                2 * (1 + sizeof OTHERS / sizeof *OTHERS),
            "%s", caveats());
  fixture_end(&f);
}
