/*
 * TimescaleDB promises that a hypertable is used like a table while the extension makes, compresses and drops its
 * chunks. It does so without firing triggers, so a hypertable is not captured. The extension is not in Debian: these
 * are its catalogue and a chunk as it makes them.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "mirrored.h"

#define CATALOGUE                                                                                                      \
  "create schema _timescaledb_catalog; create schema _timescaledb_internal;"                                           \
  "grant usage on schema _timescaledb_catalog to public;"                                                              \
  "create table _timescaledb_catalog.hypertable (id int primary key, schema_name name, table_name name);"              \
  "grant select on _timescaledb_catalog.hypertable to public;"                                                         \
  "create table measured (at timestamptz not null, v float8); create table item (id int primary key);"

static void expect_rejected(struct fixture *f) {
  const char *said;
  cr_assert_eq(rowrelay(f, NULL, &said, "capture", "measured", "--to", "w", NULL), 1);
  cr_expect_not_null(strstr(said, "table public.measured is a hypertable of TimescaleDB, which cannot be captured"),
                     "%s", said);
  cr_expect_null(strstr(said, "already exists"), "%s", said);
}

Test(timescale, capture_rejects_a_hypertable_with_and_without_chunks) {
  struct fixture f;
  mirrored_begin(&f, "timescale", CATALOGUE);
  mirrored_capture(&f, "item");
  sql(f.at_source, "insert into _timescaledb_catalog.hypertable values (1, 'public', 'measured')");
  expect_rejected(&f);
  sql(f.at_source,
      "create table _timescaledb_internal._hyper_1_1_chunk (check (at >= '2026-01-01')) inherits (measured);"
      "insert into _timescaledb_internal._hyper_1_1_chunk values ('2026-02-02', 1)");
  expect_rejected(&f);
  cr_expect_str_eq(ask(f.at_source, "select count(*) from pg_trigger where tgrelid = 'measured'::regclass"), "0");
  sql(f.at_source, "insert into item values (1)");
  mirrored_same(&f, "item");
  fixture_end(&f);
}

Test(timescale, capture_names_release_where_a_table_became_a_hypertable) {
  struct fixture f;
  const char *said;
  mirrored_begin(&f, "timescale_later", CATALOGUE);
  mirrored_capture(&f, "measured");
  sql(f.at_source, "insert into _timescaledb_catalog.hypertable values (1, 'public', 'measured')");
  cr_assert_eq(rowrelay(&f, NULL, &said, "capture", "measured", NULL), 1);
  cr_expect_not_null(strstr(said, "Release it: rowrelay release public.measured"), "%s", said);
  sql(f.at_source, "drop trigger \"!rowrelay\" on measured; delete from rowrelay.job");
  cr_expect_str_eq(ask(f.at_source, "select m from rowrelay.maintain() as m where m like '%%trigger%%'"),
                   "table public.measured: triggers are missing, and could not be attached: table public.measured is a "
                   "hypertable of TimescaleDB, which cannot be captured");
  rowrelay_ok(&f, "release", "measured", NULL);
  fixture_end(&f);
}

Test(timescale, capture_reads_no_catalogue_that_is_another_roles) {
  struct fixture f;
  role_begin("timescale_app");
  mirrored_begin(&f, "timescale_other", CATALOGUE);
  sql(f.at_source, "insert into _timescaledb_catalog.hypertable values (1, 'public', 'measured');"
                   "alter table _timescaledb_catalog.hypertable owner to timescale_app");
  mirrored_capture(&f, "measured");
  fixture_end(&f);
  role_end("timescale_app");
}
