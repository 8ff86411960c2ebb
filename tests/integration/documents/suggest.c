/* Documents explain themselves: what is missing is named with what to do, and their sources are proposed. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"

static char path[64];

static void write_query(const char *query) {
  snprintf(path, sizeof path, "/tmp/rowrelay_suggest_%d.sql", (int)getpid());
  FILE *file = fopen(path, "w");
  cr_assert_not_null(file);
  fputs(query, file);
  fclose(file);
}

static char *read_file(const char *name) {
  FILE *file = fopen(name, "r");
  cr_assert_not_null(file, "%s", name);
  char *text = calloc(1, 100000);
  cr_assert(fread(text, 1, 99999, file) > 0);
  fclose(file);
  return text;
}

static void begin(struct fixture *f, const char *name, const char *tables) {
  fixture_begin(f, name);
  sql(f->at_source, "%s", tables);
  rowrelay_ok(f, "target", "add", "w", f->target_url, NULL);
}

static void says(const char *said, const char *words) {
  cr_assert_not_null(strstr(said, words), "\"%s\" is not in\n%s", words, said);
}

static void says_not(const char *said, const char *words) {
  cr_assert_null(strstr(said, words), "\"%s\" is in\n%s", words, said);
}

/* What is proposed for a query: the command, and what is told besides. */
static const char *suggest(const struct fixture *f, const char *query, const char **told) {
  const char *command;
  write_query(query);
  int status = rowrelay(f, &command, told, "document", "suggest", path, "--name", "doc", NULL);
  cr_assert_eq(status, 0, "%s", *told);
  return strdup(command);
}

/* Runs a command as a person would who pastes it. */
static void paste(const struct fixture *f, const char *command) {
  char *script = NULL;
  cr_assert(asprintf(&script, "rowrelay() { \"$ROWRELAY_BIN\" -d '%s' \"$@\"; }\n%s", f->source, command) > 0);
  cr_assert_eq(system(script), 0, "%s", script);
  free(script);
}

/* Pastes what is proposed, and builds all documents. */
static const char *add_as_suggested(const struct fixture *f, const char *query) {
  const char *told;
  const char *command = suggest(f, query, &told);
  paste(f, command);
  rowrelay_ok(f, "backfill", "--document", "doc", NULL);
  rowrelay_ok(f, "run", "--until-empty", NULL);
  return command;
}

/* Delivers what was changed; then every document is what its query gives. */
static void is_right(const struct fixture *f) {
  rowrelay_ok(f, "run", "--until-empty", NULL);
  rowrelay_ok(f, "verify", "w", "--document", "doc", NULL);
}

/* One after another, so that a source that is missing shows itself. */
static void stays_right(const struct fixture *f, const char *const *statements) {
  for (; *statements != NULL; statements++) {
    sql(f->at_source, "%s", *statements);
    is_right(f);
  }
}

Test(suggest, a_shop_of_seventeen_tables_becomes_a_document) {
  struct fixture f;
  char *tables = read_file("tests/demo/shop.sql");
  char *rows = read_file("tests/demo/seed.sql");
  char *query = read_file("tests/demo/order_search.sql");
  *strstr(tables, "-- The application's role") = '\0';
  begin(&f, "suggest_shop", tables);
  sql(f.at_source, "%s; reset search_path", rows);
  const char *told;
  const char *command = suggest(&f, query, &told);
  cr_assert_str_eq(told, "notice: no foreign key leads from shop.shipment_events to the documents: add --from "
                         "'shop.shipment_events:QUERY' with a query that returns the keys for the rows of "
                         "\"changed\"\n");
  says(command, "rowrelay document add doc --target w --key order_id --query /tmp/");
  says(command, "\\\n  --from 'shop.orders:id(id, customer_id, status, currency, total, placed_at, remark)' \\\n");
  says(command, "'shop.returns:order_id(id, order_id, line_no, quantity, reason)'");
  says(command, "'shop.warranty_notes(id, warranty_id, note):select a.order_id from shop.warranties a join changed on "
                "changed.warranty_id = a.id'");
  paste(&f, command);
  rowrelay_ok(&f, "backfill", "--document", "doc", NULL);
  is_right(&f);
  static const char *const STATEMENTS[] = {
      "update shop.orders set remark = 'x' where id % 50 = 1",
      "update shop.customers set name = 'New ' || name where id % 50 = 2",
      "update shop.addresses set city = 'Ulm' where id % 50 = 3",
      "update shop.phones set number = '1' where customer_id % 20 = 4",
      "update shop.emails set email = 'e' where id % 20 = 5",
      "update shop.items set tags = '{x}' where id % 50 = 6",
      "update shop.item_texts set title = 'x' where item_id % 50 = 7",
      "update shop.prices set amount = amount + 1 where item_id % 50 = 8",
      "update shop.order_lines set quantity = quantity + 1 where order_id % 50 = 9",
      "update shop.shipments set carrier = 'x' where id % 50 = 10",
      "update shop.warranties set serial_no = 'x' where id % 10 = 1",
      "update shop.warranty_notes set note = 'x' where id % 2 = 1",
      "update shop.returns set reason = 'x'",
      "update shop.comments set body = 'x' where id % 50 = 14",
      "update shop.payments set amount = amount + 1 where id % 50 = 15",
      "update shop.refunds set reason = 'x'",
      "delete from shop.orders where id % 30 = 16",
      NULL};
  stays_right(&f, STATEMENTS);
  free(tables);
  free(rows);
  free(query);
  remove(path);
  fixture_end(&f);
}

Test(suggest, names_keys_views_and_tables_that_refer_to_themselves_are_no_obstacle) {
  struct fixture f;
  begin(
      &f, "suggest_odd",
      "create schema \"My \"\"Shop\"\"\"; set search_path = \"My \"\"Shop\"\"\";"
      "create table \"It's: %s\" (\"the key\" text primary key, \"a.b\" int, boss text references \"It's: %s\","
      "  giver int, taker int, unused int);"
      "create table account (id int primary key, name text, unused int);"
      "alter table \"It's: %s\" add foreign key (giver) references account, add foreign key (taker) references account;"
      "create table part (region int, \"no)\" int, owner varchar references \"It's: %s\", primary key (region, "
      "\"no)\"));"
      "create table detail (region int, n int, words text, foreign key (region, n) references part);"
      "create view seen as select d.*, p.owner from detail d join part p on p.region = d.region and p.\"no)\" = d.n;"
      "reset search_path");
  static const char QUERY[] =
      "select i.\"the key\" as k, i.\"a.b\", b.\"a.b\" as of_boss, g.name as giver, t.name as taker, "
      "(select string_agg(s.words, ',' order by s.words) from \"My \"\"Shop\"\"\".seen s where s.owner = i.\"the "
      "key\") "
      "as words from \"My \"\"Shop\"\"\".\"It's: %s\" i left join \"My \"\"Shop\"\"\".\"It's: %s\" b on b.\"the key\" "
      "= "
      "i.boss left join \"My \"\"Shop\"\"\".account g on g.id = i.giver left join \"My \"\"Shop\"\"\".account t on "
      "t.id "
      "= i.taker where i.\"the key\" = any ($1) -- all\n;\n";
  sql(f.at_source,
      "insert into \"My \"\"Shop\"\"\".account select n, n from generate_series(1, 5) n;"
      "insert into \"My \"\"Shop\"\"\".\"It's: %%s\" values ('a''', 1, null, 1, 2), ('b\\', 2, 'a''', 2, 3), "
      "('c %%', 3, 'b\\', 4, 5)");
  const char *command = add_as_suggested(&f, QUERY);
  says(command, "--key k ");
  says(command, "account(id, name):select a.\"the key\"");
  says(command, "\"It'\\''s: %s\":boss");
  static const char *const STATEMENTS[] = {"set search_path = \"My \"\"Shop\"\"\"",
                                           "insert into part values (1, 1, 'a'''), (1, 2, 'b\\')",
                                           "insert into detail values (1, 1, 'x'), (1, 2, 'y')",
                                           "update detail set words = 'z' where n = 1",
                                           "update part set owner = 'c %' where \"no)\" = 1",
                                           "update account set name = 'x' where id = 1",
                                           "update account set name = 'y' where id = 3",
                                           "update \"It's: %s\" set \"a.b\" = 10 where \"a.b\" = 1",
                                           "update \"It's: %s\" set boss = null where \"a.b\" = 2",
                                           "delete from detail where n = 1",
                                           NULL};
  stays_right(&f, STATEMENTS);
  remove(path);
  fixture_end(&f);
}

Test(suggest, a_way_by_tables_that_the_query_does_not_read_is_told) {
  struct fixture f;
  begin(
      &f, "suggest_far",
      "create table customer (id int primary key, name text); create table orders (id bigint primary key, customer_id "
      "int references customer); create table address (id uuid primary key default gen_random_uuid(), customer_id int "
      "references customer, city text); create table alone (id int, word text); create materialized view old as select "
      "1 as id; create table kept (order_id int references orders, note text)");
  const char *told;
  const char *command =
      suggest(&f,
              "with x as (select * from orders) select x.id as nr, (select string_agg(a.city, ',' order "
              "by a.city) from address a where a.customer_id = x.customer_id) as cities, (select "
              "max(word) from alone) as word, (select max(id) from old) as old, (select max(k.note) "
              "from kept k where k.order_id = x.id) as note from x where x.id = any ($1)",
              &told);
  says(told, "the query does not join all that leads from address to the documents: check its --from\n");
  says(told, "no foreign key leads from alone to the documents: add --from 'public.alone:QUERY'");
  says(told, "old is a materialized view");
  says(command, "--key nr ");
  says(command, "'public.address(customer_id, city):select a.id from public.orders a join public.customer b on b.id = "
                "a.customer_id join changed on changed.customer_id = b.id'");
  says(command, "'public.kept:order_id'");
  sql(f.at_source, "insert into customer values (1), (2); insert into orders values (1, 1), (2, 2), (3, 2)");
  paste(&f, command);
  static const char *const STATEMENTS[] = {"insert into address values (default, 1, 'Ulm'), (default, 2, 'Bonn')",
                                           "update address set customer_id = 1", "insert into kept values (3, 'x')",
                                           "delete from address where city = 'Ulm'", NULL};
  rowrelay_ok(&f, "backfill", "--document", "doc", NULL);
  stays_right(&f, STATEMENTS);
  remove(path);
  fixture_end(&f);
}

Test(suggest, a_query_that_cannot_be_one_of_documents_is_refused) {
  struct fixture f;
  const char *told;
  begin(&f, "suggest_wrong", "create table orders (id int primary key, at date, n numeric)");
  static const char *const WRONG[][2] = {
      {"select id from orders", "does not use $1\nhint: $1 is the array of the keys"},
      {"select id from ordes where id = any ($1)", "relation \"ordes\" does not exist"},
      {"select id from orders where id = any ($1", "the query cannot be run"},
      {"select id from orders where ($1) is not null", "compares no column"}};
  for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
    write_query(WRONG[i][0]);
    cr_assert_eq(rowrelay(&f, NULL, &told, "document", "suggest", path, NULL), 2, "%s", WRONG[i][0]);
    says(told, WRONG[i][1]);
  }
  says(suggest(&f, "select id, at, n from orders where at = any ($1)", &told), "--key at ");
  says(suggest(&f, "select id, at, n from orders where n = any ($1)", &told), "'public.orders:n'");
  static const char *const CASTS[] = {"int", "bigint", "smallint"};
  for (size_t i = 0; i < sizeof CASTS / sizeof *CASTS; i++) {
    char query[128];
    snprintf(query, sizeof query, "select id from orders where id = any ($1::%s[])", CASTS[i]);
    says(suggest(&f, query, &told), "'public.orders:id(id)'");
  }
  says(suggest(&f, "select id, at from orders where at = any ($1::date[])", &told), "--key at ");
  says(suggest(&f, "select json_build_object('id', id) from orders where id = any ($1)", &told), "--key id ");
  says(told, "no column of the result is orders.id: name the key with --key");
  rowrelay_ok(&f, "target", "add", "second", f.target_url, NULL);
  says(suggest(&f, "select id from orders where id = any ($1)", &told), "--target TARGET ");
  says(told, "put the name of a target in the place of TARGET\nhint: rowrelay target list\n");
  remove(path);
  fixture_end(&f);
}

/* ---- document add ------------------------------------------------------------------------------------------------ */

#define SHOP                                                                                                           \
  "create table customer (id int primary key, code char(5), name text); create table orders (id bigint primary key, "  \
  "customer_id int, helper int, code char(5), region int, n int) ; create table line (id int primary key, region "     \
  "int, "                                                                                                              \
  "n int) partition by range (id); create table line_1 partition of line for values from (0) to (100000); "            \
  "insert into customer select g from generate_series(1, 100) g; insert into orders select g, g, g, g, g, g from "     \
  "generate_series(1, 20000) g; insert into line select g, g, g from generate_series(1, 20000) g; analyze"

/* Adds and drops a document with another source; what it tells on the way. */
static const char *add(const struct fixture *f, const char *from) {
  static char said[4096];
  const char *told;
  write_query("select id, customer_id from orders where id = any ($1)");
  int status = rowrelay(f, NULL, &told, "document", "add", "doc", "--target", "w", "--key", "id", "--query", path,
                        "--from", "orders:id", "--from", from, NULL);
  cr_assert_eq(status, 0, "%s", told);
  snprintf(said, sizeof said, "%s", told);
  rowrelay_ok(f, "document", "drop", "doc", NULL);
  return said;
}

/* The statement behind these words: it is run as it stands, and is then not missed any more. */
static void creates(const struct fixture *f, const char *from, const char *statement) {
  const char *told = add(f, from);
  says(told, "an index is missing\nhint: Create it with psql at the source: ");
  says(told, statement);
  char *one = strdup(statement);
  for (char *rest, *part = strtok_r(one, ";", &rest); part != NULL; part = strtok_r(NULL, ";", &rest))
    sql(f->at_source, "%s", part);
  free(one);
  says_not(add(f, from), "reads the whole");
}

Test(suggest, an_index_that_is_missing_is_named_as_a_statement) {
  struct fixture f;
  begin(&f, "suggest_index", SHOP);
  creates(&f, "customer:select o.id from orders o join changed c on c.id = o.customer_id",
          "CREATE INDEX CONCURRENTLY ON public.orders (customer_id);");
  creates(&f, "customer:select id from orders where helper in (select id from changed)",
          "CREATE INDEX CONCURRENTLY ON public.orders (helper);");
  creates(&f, "line:select o.id from orders o, changed where (o.region, o.n) = (changed.region, changed.n)",
          "CREATE INDEX CONCURRENTLY ON public.orders (region, n);");
  creates(&f, "customer:select o.id from orders o join line l on l.region = o.id join changed on changed.id = l.n",
          "CREATE INDEX ON public.line (n);");
  sql(f.at_source, "drop index orders_customer_id_idx, orders_helper_idx; create table \"Odd's %%\" (\"a \"\"b\"\".c\" "
                   "int, id bigint); insert into \"Odd's %%\" select g, g from generate_series(1, 9000) g; analyze");
  creates(&f, "customer:select o.id from orders o join changed c on c.id = o.customer_id or c.id = o.helper",
          "CREATE INDEX CONCURRENTLY ON public.orders (customer_id); CREATE INDEX CONCURRENTLY ON public.orders "
          "(helper);");
  creates(&f,
          "customer:select \"x %\".id from \"Odd's %\" \"x %\" join changed on \"x %\".\"a \"\"b\"\".c\" = changed.id",
          "CREATE INDEX CONCURRENTLY ON public.\"Odd's %\" (\"a \"\"b\"\".c\");");
  says(add(&f, "customer:select o.id from orders o join changed c on c.code < o.code"),
       "warning: document \"doc\": each change of public.customer reads the whole of public.orders (20000 rows) to "
       "find the "
       "documents\n");
  remove(path);
  fixture_end(&f);
}

Test(suggest, an_index_that_the_documents_query_lacks_is_named_too) {
  struct fixture f;
  begin(&f, "suggest_index_of_query", SHOP);
  write_query(
      "select o.id, (select sum(l.n) from line l where l.region = o.region) as n from orders o where o.id = any "
      "($1)");
  const char *told;
  cr_assert_eq(rowrelay(&f, NULL, &told, "document", "add", "doc", "--target", "w", "--key", "id", "--query", path,
                        "--from", "orders:id", "--from", "line:id", NULL),
               0, "%s", told);
  says(told, "warning: document \"doc\" reads the whole of public.line (20000 rows) to build one document: an index is "
             "missing\nhint: Create it with psql at the source: CREATE INDEX ON public.line (region);\n");
  remove(path);
  fixture_end(&f);
}

Test(suggest, a_query_for_keys_that_cannot_work_is_refused_or_warned_of) {
  struct fixture f;
  begin(&f, "suggest_keys", SHOP);
  write_query("select id, customer_id from orders where id = any ($1)");
  static const char *const WRONG[][2] = {
      {"customer:select id from orders",
       "the query in \"customer:select id from orders\" does not use \"changed\"\nhint: "
       "\"changed\" stands for the changed rows of public.customer"},
      {"customer:select id from orders -- changed", "does not use \"changed\""},
      {"customer:select id from orders where 'changed' <> ''", "does not use \"changed\""},
      {"customer:select id, code from changed", "returns 2 columns"},
      {"customer:select o.id from orders o join changed c on c.nothing = o.id", "column c.nothing does not exist"}};
  for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
    const char *told;
    cr_assert_eq(rowrelay(&f, NULL, &told, "document", "add", "doc", "--target", "w", "--key", "id", "--query", path,
                          "--from", "orders:id", "--from", WRONG[i][0], NULL),
                 2, "%s", WRONG[i][0]);
    says(told, WRONG[i][1]);
  }
  says(add(&f, "customer:select code from changed"),
       "returns keys of type character, but those of document \"doc\" are of type bigint\nhint: Return the column that "
       "has the documents' keys, or make sure that each text is such a key.\n");
  says_not(add(&f, "customer:select o.id from orders o cross join changed"), "missing");
  add(&f, "customer:select code::int from changed");
  add(&f, "customer:select id::numeric from \"changed\"");
  remove(path);
  fixture_end(&f);
}
