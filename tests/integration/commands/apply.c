/* A file says what is set up: export prints it, apply makes a source so, and a dry run changes nothing. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/optional.h"
#include "fixture.h"
#include "people.h"
#include "setup/file.h"

static struct fixture f;
static char path[] = "/tmp/rowrelay-apply-XXXXXX";

static const char TABLES[] =
    "create schema shop; create type shop.state as enum ('new', 'done');"
    "create table shop.orders (id int primary key, status shop.state, note text, customer int, iban text, total "
    "numeric);"
    "create table shop.lines (id int primary key, order_id int, item text, qty int);"
    "create table shop.customers (id int primary key, name text, phone text);"
    "create unique index on shop.customers (name, id);"
    "create table shop.\"Odd: {name}\" (a int not null, \"B c\" text not null, d text, primary key (a, \"B c\"));"
    "create table plain (id int primary key, t text)";

static void begin(struct fixture *fixture, const char *name) {
  fixture_begin(fixture, name);
  sql(fixture->at_source, "%s", TABLES);
}

static void write_file(const char *text) {
  if (strchr(path, 'X') != NULL)
    close(mkstemp(path));
  FILE *file = fopen(path, "w");
  cr_assert_not_null(file);
  fputs(text, file);
  fclose(file);
}

static void end(struct fixture *fixture) {
  unlink(path);
  fixture_end(fixture);
}

/* All that rowrelay keeps, with the transactions that wrote it, its sequences, functions, and triggers of all tables.
 */
static const char *state(struct fixture *fixture) {
  return ask(fixture->at_source,
             "select md5(concat("
             "(select string_agg(query_to_xml(format('select %%s * from rowrelay.%%I x order by 1', "
             "case when relkind = 'r' then 'x::text collate \"C\", xmin,' end, relname), true, false, '')::text, '' "
             "order by relname)"
             " from pg_class where relnamespace = 'rowrelay'::regnamespace and relkind in ('r', 'S')"
             " and relname not like 'change\\_p%%'),"
             "(select string_agg(concat(p.xmin, pg_get_functiondef(p.oid), p.proacl), '' order by p.oid) from pg_proc p"
             " where p.pronamespace = 'rowrelay'::regnamespace),"
             "(select string_agg(concat(t.xmin, pg_get_triggerdef(t.oid), t.tgenabled), '' order by t.oid) from "
             "pg_trigger t),"
             "(select count(*) from pg_class)))");
}

/* Applies a text; gives what was printed. */
static const char *applies(struct fixture *fixture, const char *text, const char *option) {
  const char *out;
  const char *errors;
  write_file(text);
  int status = rowrelay(fixture, &out, &errors, "apply", path, option, NULL);
  cr_assert(status == 0, "exit status %d: %s%s", status, out, errors);
  return out;
}

/* A dry run ends with 3 and must print this. */
static void plans(struct fixture *fixture, const char *text, const char *prune, const char *expected) {
  const char *out;
  const char *errors;
  write_file(text);
  int status = rowrelay(fixture, &out, &errors, "apply", path, "--dry-run", prune, NULL);
  cr_assert(status == (*expected != '\0' ? 3 : 0), "exit status %d: %s%s", status, out, errors);
  cr_assert_str_eq(out, expected);
}

/* The file must be refused, and nothing changed. */
static void refuses(struct fixture *fixture, const char *text, const char *place, const char *words) {
  const char *out;
  const char *errors;
  char before[64];
  char expected[256];
  snprintf(before, sizeof before, "%s", state(fixture));
  write_file(text);
  int status = rowrelay(fixture, &out, &errors, "apply", path, NULL);
  cr_expect(status == 2, "exit status %d: %s%s%s", status, text, out, errors);
  cr_assert_str_eq(out, "");
  snprintf(expected, sizeof expected, "rowrelay: %s:%s", path, place);
  cr_expect_eq(strncmp(errors, expected, strlen(expected)), 0, "%s\n%s", expected, errors);
  cr_expect_not_null(strstr(errors, words), "%s", errors);
  cr_assert_str_eq(state(fixture), before, "%s", text);
}

#define FAILS_WITH(words, ...)                                                                                         \
  do {                                                                                                                 \
    const char *errors_;                                                                                               \
    cr_assert_eq(rowrelay(&f, NULL, &errors_, __VA_ARGS__, NULL), 2);                                                  \
    cr_assert_not_null(strstr(errors_, words), "%s", errors_);                                                         \
  } while (0)

/* Every option of every kind of object, by SQL. */
static void set_up_everything(struct fixture *fixture) {
  PGconn *c = fixture->at_source;
  sql(c, "select rowrelay.add_target('dw', 'postgresql://u:${DW_PASSWORD}@dw/warehouse', '{\"lanes\": 7, "
         "\"batch_rows\": \"50\", \"batch_bytes\": 4096, \"push_timeout\": 9, \"retries\": 0, \"on_error\": \"halt\", "
         "\"claim\": \"lease\", \"lease\": 99, \"guarantee\": \"at-least-once\"}')");
  sql(c, "select rowrelay.add_target('log of: \"all\"', 'postgresql://dw/log', '{\"mode\": \"append\"}')");
  sql(c, "select rowrelay.add_target('hook', 'https://example.org/${PATH_OF_HOOK}?a=b', '{\"timeout\": 5, "
         "\"headers\": \"X-One: 1\\nAuthorization: Bearer ${TOKEN}\", \"http2\": \"true\", \"follow_redirects\": true, "
         "\"ca_file\": \"/a\", \"certificate\": \"/b: c\", \"private_key\": \"/c\", \"proxy\": \"http://u:${P}@p:1\", "
         "\"concurrency\": 2, \"events\": 1, \"method\": \"PUT\", \"body\": \"json_build_object(''a'', 1)\", "
         "\"secret\": \"${A} ${B}\"}')");
  sql(c, "select rowrelay.add_target('find', 'elasticsearch+https://es:9200/', "
         "'{\"bulk_bytes\": 2048, \"gzip\": \"true\", \"api_key\": \"${KEY}\"}'); select rowrelay.pause('find')");
  sql(c, "select rowrelay.capture_table('shop.orders', key => '{id}', lane => '{customer}', exclude => '{note}', "
         "mask => '{\"iban\": \"007\", \"total\": 0, \"status\": null}', row_filter => 'customer <> 1 /* : # */', "
         "before => 'full', capture_origin => true, per => 'statement')");
  sql(c, "select rowrelay.capture_table('shop.lines', key => '{}', lane => '{}')");
  sql(c, "select rowrelay.capture_table('shop.customers', key => '{id,name}', columns => '{id,phone,name}')");
  sql(c, "select rowrelay.capture_table('shop.\"Odd: {name}\"', mask => '{\"d\": \"yes\"}'); "
         "select rowrelay.capture_table('plain')");
  sql(c, "select rowrelay.route('shop.orders', 'dw', into_table => 'staging.\"Orders\"', create_table => true, "
         "create_like => 'full'); "
         "select rowrelay.route('shop.orders', 'hook'); select rowrelay.route('shop.orders', 'find'); "
         "select rowrelay.route('shop.lines', 'dw', into_table => 'both'); "
         "select rowrelay.route('plain', 'dw', into_table => 'both', shared => true); "
         "select rowrelay.route('shop.\"Odd: {name}\"', 'log of: \"all\"'); "
         "select rowrelay.route('plain', 'log of: \"all\"', into_table => 'x')");
  sql(c, "select rowrelay.keep('3 months'); select rowrelay.keep('forever', '{plain}'); "
         "select rowrelay.keep('50 days', '{shop.orders}'); select rowrelay.seal_days()");
  sql(c,
      "select rowrelay.add_target('docs', 'postgresql://dw/docs'); set search_path = shop; "
      "select rowrelay.add_document('order: search', 'docs', 'id', E'select o.id, c.name as \"Na me\",\\n\\t''\\\\'' "
      "as "
      "t\\n  from orders o join customers c on c.id = o.customer where o.id = any ($1);\\n', "
      "'{orders:id, \"orders: select id from changed\", \"customers(name):select o.id from orders o join changed c on "
      "c.id = o.customer\"}', into_table => 'shop.\"Docs\"', create_table => true, search => '{t,\"Na me\"}'); "
      "reset search_path; select rowrelay.set_target('order: search', options => '{\"batch_rows\": 3}'); "
      "select rowrelay.pause('order: search'); "
      "select rowrelay.add_document('d2', 'docs', 'id', 'select id, t from plain where id = any ($1)', "
      "'{\"plain:id(t, id)\"}')");
}

/* Targets that this program may have been built without: true in HAVE when it was not. */
static const struct {
  bool have;
  const char *kind;
  const char *url;
  const char *options;
} OPTIONAL_TARGETS[] = {
    {HAVE_RDKAFKA, "kafka", "kafka://k1:9093,k2/a.{table}",
     "{\"format\": \"debezium\", \"schema\": true, \"source_name\": \"shop\", \"tombstones\": \"false\", "
     "\"compression\": \"lz4\", \"request_bytes\": 2048, \"tls\": true, \"private_key_password\": \"${K}\", \"sasl\": "
     "\"OAUTHBEARER\", \"sasl_username\": \"a b\", \"sasl_password\": \"${S}\", \"oauth_url\": \"https://t/token\", "
     "\"oauth_scope\": \"all: x\", \"whole_transactions\": true, \"lanes\": 1}"},
    {HAVE_HIREDIS, "redis", "redis://u:${P}@r1:6380/2/a:{table}",
     "{\"format\": \"debezium\", \"schema\": true, \"source_name\": \"shop\", \"maxlen\": 1000, \"replicas\": 2}"},
    {HAVE_LIBRABBITMQ, "amqp", "amqp://u:${P}@r1:5673/v%2F/x", "{\"routing_key\": \"a.{table}\"}"},
    {HAVE_LIBNATS, "nats", "nats+tls://u:${P}@n1:4222,n2/a.{table}",
     "{\"stream\": \"S\", \"create_stream\": true, \"token\": \"${T}\", \"credentials\": \"/c\"}"},
};
#define OPTIONAL_COUNT (sizeof OPTIONAL_TARGETS / sizeof OPTIONAL_TARGETS[0])

static void set_up_optional(PGconn *c) {
  sql(c, "create temp table lacked (kind text)");
  for (size_t i = 0; i < OPTIONAL_COUNT; i++)
    if (OPTIONAL_TARGETS[i].have)
      sql(c, "select rowrelay.add_target('%s', '%s', '%s')", OPTIONAL_TARGETS[i].kind, OPTIONAL_TARGETS[i].url,
          OPTIONAL_TARGETS[i].options);
    else
      sql(c, "insert into lacked values ('%s')", OPTIONAL_TARGETS[i].kind);
}

/* In YAML a name ends with a colon; in a map of one line it may follow a brace. */
static void names(const char *text, const char *name) {
  char one[64];
  snprintf(one, sizeof one, "%s:", name);
  cr_assert_not_null(strstr(text, one), "%s is not in\n%s", name, text);
}

static void names_all(const char *text, const struct setup_key *keys) {
  for (; keys->name != NULL; keys++) {
    names(text, keys->name);
    if (keys->keys != NULL)
      names_all(text, keys->keys);
  }
}

Test(apply, what_is_exported_changes_nothing_and_makes_another_source_the_same) {
  struct fixture g;
  begin(&f, "apply_all");
  begin(&g, "apply_all_2");
  set_up_everything(&f);
  set_up_optional(f.at_source);
  const char *yaml = strdup(rowrelay_ok(&f, "export", NULL));
  const char *json = strdup(rowrelay_ok(&f, "export", "--json", NULL));
  /* Nothing that can be said is missing. */
  names_all(yaml, SETUP_FILE_KEYS);
  sql(f.at_source, "create temp table option as select name from rowrelay.target_options() where kinds is null or not "
                   "kinds <@ array(select kind from lacked)");
  for (int i = 0; i < ask_number(f.at_source, "select count(*) from option"); i++)
    names(yaml, ask(f.at_source, "select name from option order by name offset %d", i));
  const char *before = strdup(state(&f));
  plans(&f, yaml, NULL, "");
  plans(&f, json, "--prune", "");
  cr_assert_str_eq(applies(&f, yaml, NULL), "");
  cr_assert_str_eq(applies(&f, json, "--prune"), "");
  cr_assert_str_eq(state(&f), before);
  const char *said;
  cr_assert_eq(rowrelay(&f, NULL, &said, "apply", "/dev/null", NULL), 0);
  cr_assert_str_eq(said, "nothing to change: the source is as /dev/null says\n");
  /* Both forms say the same of another source, which is then the same. */
  applies(&g, yaml, NULL);
  cr_assert_str_eq(rowrelay_ok(&g, "export", NULL), yaml);
  cr_assert_str_eq(applies(&g, json, NULL), "");
  end(&g);
  end(&f);
}

Test(apply, the_sql_that_is_printed_does_the_same) {
  struct fixture g;
  const char *statements;
  const char *errors;
  begin(&f, "apply_sql");
  begin(&g, "apply_sql_2");
  set_up_everything(&f);
  const char *yaml = strdup(rowrelay_ok(&f, "export", NULL));
  write_file(yaml);
  cr_assert_eq(rowrelay(&g, &statements, &errors, "apply", path, "--sql", NULL), 3, "%s", errors);
  sql(g.at_source, "%s", statements);
  cr_assert_str_eq(rowrelay_ok(&g, "export", NULL), yaml);
  end(&g);
  end(&f);
}

static const char CHANGES[] = "keep: 90 days\n"
                              "seal: false\n"
                              "targets:\n"
                              "  new: {url: \"stdout:\", options: {retries: 1}}\n"
                              "  dw: {options: {batch_rows: null, retries: 4}}\n"
                              "  find: {paused: false}\n"
                              "captures:\n"
                              "  public.plain:\n"
                              "    before: true\n"
                              "    keep: default\n"
                              "    routes: {new: {}, dw: {into: both, create: true, shared: true}}\n"
                              "  shop.orders: {lane: null, exclude: [note, iban], where: null}\n"
                              "documents:\n"
                              "  d2: {into: elsewhere}\n"
                              "  \"order: search\": {options: {batch_rows: 8}}\n";
static const char PLAN[] = "add target new: url stdout:, retries 1\n"
                           "change target dw: batch_rows 50 -> default, retries 0 -> 4\n"
                           "resume target find\n"
                           "change capture public.plain: before false -> true\n"
                           "add route public.plain to new\n"
                           "change route public.plain to dw: create false -> true\n"
                           "change capture public.plain: keep forever -> default\n"
                           "change capture shop.orders: lane [\"customer\"] -> default, exclude [\"note\"] -> "
                           "[\"note\", \"iban\"], where customer "
                           "<> 1 /* : # */ -> default\n"
                           "replace document d2: into d2 -> elsewhere; then its rows must be built again\n"
                           "change document order: search: batch_rows 3 -> 8\n"
                           "change keep: all tables 3 mons -> 90 days\n"
                           "change seal: closed days true -> false\n";

Test(apply, a_dry_run_says_what_would_be_done_and_changes_nothing) {
  begin(&f, "apply_dry");
  set_up_everything(&f);
  /* It takes no lock that this writer holds back, or that others would wait for behind it. */
  PGconn *writer = connect_to(f.source, NULL);
  sql(writer, "begin; insert into plain values (1); insert into shop.orders values (1)");
  const char *before = strdup(state(&f));
  plans(&f, CHANGES, NULL, PLAN);
  plans(&f, "captures: {}\ntargets: {}\ndocuments: {}\n", "--prune",
        "remove document d2: the target keeps what it has\n"
        "remove document order: search: the target keeps what it has\n"
        "remove capture public.plain: its triggers are dropped\n"
        "remove capture shop.\"Odd: {name}\": its triggers are dropped\n"
        "remove capture shop.customers: its triggers are dropped\n"
        "remove capture shop.lines: its triggers are dropped\n"
        "remove capture shop.orders: its triggers are dropped\n"
        "remove target docs: its routes and documents too; what is queued for it is discarded\n"
        "remove target dw: its routes and documents too; what is queued for it is discarded\n"
        "remove target find: its routes and documents too; what is queued for it is discarded\n"
        "remove target hook: its routes and documents too; what is queued for it is discarded\n"
        "remove target log of: \"all\": its routes and documents too; what is queued for it is discarded\n");
  cr_assert_str_eq(state(&f), before);
  sql(writer, "commit");
  PQfinish(writer);
  end(&f);
}

Test(apply, only_what_the_file_says_is_changed_and_a_second_run_changes_nothing) {
  begin(&f, "apply_changes");
  set_up_everything(&f);
  const char *done = applies(&f, CHANGES, NULL);
  cr_assert_not_null(strstr(done, "capture shop.orders: changed\n"), "%s", done);
  cr_assert_not_null(strstr(done, "document d2: replaced; to build the existing ones, run: rowrelay backfill"), "%s",
                     done);
  plans(&f, CHANGES, NULL, "");
  cr_assert_str_eq(applies(&f, CHANGES, NULL), "");
  cr_assert_str_eq(ask(f.at_source,
                       "select concat_ws(' ', options ->> 'batch_rows', options ->> 'retries', options ->> "
                       "'lanes', options ->> 'on_error') from rowrelay.targets where name = 'dw'"),
                   "4 7 halt");
  /* A default that has no value of its own is reached without losing the other options. */
  cr_assert_str_eq(ask(f.at_source,
                       "select concat_ws(' ', key, lane, exclude, mask, row_filter, before, capture_origin, "
                       "keep) from rowrelay.captures where relation = 'shop.orders'::regclass"),
                   "{id} {note,iban} {\"iban\": \"007\", \"total\": 0, \"status\": null} full t 50 days");
  end(&f);
}

Test(apply, prune_removes_what_the_file_does_not_name) {
  begin(&f, "apply_prune");
  set_up_everything(&f);
  /* Without a section nothing of its kind is removed, and routes only where the file has routes. */
  plans(&f, "targets: {dw: null, hook: null, docs: null, find: null}\n", "--prune",
        "remove target log of: \"all\": its routes and documents too; what is queued for it is discarded\n");
  plans(&f, "captures: {shop.lines: null, shop.orders: {routes: {dw: null}}, 'shop.\"Odd: {name}\"': null}\n",
        "--prune",
        "remove route shop.orders to find: what is queued is still delivered\n"
        "remove route shop.orders to hook: what is queued is still delivered\n");
  plans(&f, "captures: {shop.orders: {routes: {dw: null}}}\ntargets: {docs: null}\n", NULL, "");
  const char *out;
  const char *errors;
  write_file("captures:\n  shop.orders:\n    routes: {dw: null}\ntargets: {docs: null}\n");
  cr_assert_eq(rowrelay(&f, &out, &errors, "apply", path, "--prune", NULL), 2);
  cr_assert_not_null(strstr(errors, ":3:14: target \"dw\" would be removed"), "%s", errors);
  /* Tables that documents are built from stay captured, also when the file names only the document. */
  static const char kept[] = "captures: {shop.lines: {routes: {}}}\ndocuments: {\"order: search\": null}\n";
  applies(&f, kept, "--prune");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(relation::text, ' ' order by relation::text) from "
                                    "rowrelay.captures"),
                   "shop.customers shop.lines shop.orders");
  cr_assert_str_eq(ask(f.at_source, "select string_agg(document, ' ') from rowrelay.documents"), "order: search");
  cr_assert_str_eq(ask(f.at_source, "select targets from rowrelay.captures where relation = 'shop.lines'::regclass"),
                   "{}");
  cr_assert_str_eq(applies(&f, kept, "--prune"), "");
  applies(&f, "captures:\ntargets: {}\ndocuments: {}\n", "--prune");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.targets"), "0");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.captures"), "3");
  applies(&f, "captures: {}\n", "--prune");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from pg_trigger where tgname like '!%%'"), "0");
  end(&f);
}

/* Files, what the message begins with behind the file's name, and more of its words. */
static const struct {
  const char *text;
  const char *place;
  const char *words;
} wrong[] = {
    {"a: [1\nb: 2\n", "2:", "expected"},
    {"captures:\n  plain:\n  plain:\n", "3:3: ", "this name stands twice: plain"},
    {"keep: &a 90 days\n", "1:7: ", "anchors"},
    {"- keep\n", "1:1: ", "the file must be a map"},
    {"captres:\n", "1:1: the file has no \"captres\"", "did you mean \"captures\"?"},
    {"captures:\n  plain:\n    exlude: [t]\n", "3:5: a captured table has no \"exlude\"", "did you mean \"exclude\"?"},
    {"captures:\n  plain:\n    routes:\n      dw:\n        inot: x\n", "5:9: a route has no \"inot\"", "\"into\""},
    {"targets:\n  dw: {ulr: x}\n", "2:8: a target has no \"ulr\"", "did you mean \"url\"?"},
    {"targets:\n  dw: {options: {\n batch_rws: 1}}\n", "3:2: option \"batch_rws\" does not exist", "\"batch_rows\""},
    {"documents:\n  doc:\n    querry: x\n", "3:5: a document has no \"querry\"", "did you mean \"query\"?"},
    {"captures: [plain]\n", "1:11: captures must be a map", ""},
    {"captures: {plain: yes}\n", "1:19: plain must be a map", ""},
    {"captures: {plain: {before: yes}}\n", "1:28: before must be true or false", ""},
    {"captures: {plain: {before: \"true\"}}\n", "1:28: before must be true or false", ""},
    {"captures: {plain: {key: id}}\n", "1:25: key must be a list of texts", ""},
    {"captures: {plain: {key: [[id]]}}\n", "1:25: key must be a list of texts", ""},
    {"captures: {plain: {mask: [t]}}\n", "1:26: mask must be a map", ""},
    {"captures: {plain: {routes: {dw: {create: true, like: twin}}}}\n", "1:54: like must be minimal or full", ""},
    {"captures: {plain: {where: [t]}}\n", "1:27: where must be a text", ""},
    {"targets: {dw: {options: {retries: [1]}}}\n", "1:25: options must be a map", ""},
    {"targets: {dw: {url: null}}\n", "1:21: url must be a text", ""},
    {"captures:\n  plainn: {}\n", "2:3: table \"plainn\" does not exist", "did you mean \"plain\"?"},
    {"captures:\n  shop.*: {}\n", "2:3: ", "shop.*"},
    {"captures:\n  plain:\n  public.plain:\n", "3:3: table public.plain is named twice: line 2", ""},
    {"captures:\n  pg_catalog.pg_class:\n", "2:3: capture pg_catalog.pg_class: table pg_class cannot be captured", ""},
    {"captures:\n  plain: {exclude: [u]}\n", "2:3: capture public.plain: column \"u\"", "id, t"},
    {"captures:\n  plain: {key: [t]}\n", "2:3: capture public.plain: no unique index covers", ""},
    {"captures:\n  plain: {where: \"u = 1\"}\n", "2:3: capture public.plain: row filter", ""},
    {"captures:\n  plain: {where: \"id = 1\", key: [x]}\n", "2:3: ", "\"x\""},
    {"captures:\n  plain: {keep: 3 hours}\n", "2:17: changes cannot be kept", "at least a day"},
    {"keep: some days\n", "1:7: \"some days\" is not an interval", "such as '90 days'"},
    {"keep: default\n", "1:7: keep must be an interval", ""},
    {"captures:\n  plain:\n    routes: {dv: {}}\n", "3:14: target \"dv\" does not exist", "did you mean \"dw\"?"},
    {"captures:\n  plain:\n    routes: {doc: {}}\n", "3:14: \"doc\" is a document", ""},
    {"captures:\n  shop.lines:\n    routes: {dw: {into: plain}}\n",
     "3:14: route shop.lines to dw: ", "already go into"},
    {"targets:\n  w: {options: {retries: 1}}\n", "2:3: target \"w\" has no url", ""},
    {"targets:\n  w: {url: \"oracle://x\"}\n", "2:3: target w: ", "not supported"},
    {"targets:\n  w: {url: \"stdout:\", options: {mode: append}}\n", "2:3: target w: ", "for this kind of target"},
    {"targets:\n  dw: {options: {retries: many}}\n", "2:3: target dw: retries must be a number", ""},
    {"targets:\n  dw: {options: {lanes: 3}}\n", "2:3: target dw: ", "number of lanes"},
    {"targets:\n  doc: {url: \"stdout:\"}\n", "2:3: \"doc\" is a document", ""},
    {"documents:\n  d: {target: dw, key: id, query: select 1}\n", "2:3: document \"d\" has no from", ""},
    {"documents:\n  dw: {target: dw}\n", "2:3: \"dw\" is a target", ""},
    {"documents:\n  doc: {target: dv}\n", "2:17: target \"dv\" does not exist", "\"dw\""},
    {"documents:\n  doc: {from: [\"plain:i\"]}\n", "2:16: column \"i\" of table plain", ""},
    {"documents:\n  doc: {query: select id from plain}\n", "2:3: document doc: ", "does not use $1"},
    {"documents:\n  doc: {options: {lanes: 3}}\n", "2:19: a document has no option lanes", ""},
    {"documents:\n  d: {target: dw, key: id, query: 'select id from plain where id = any ($1)', from: ['plain:id'],\n"
     "      options: {retries: x}}\n",
     "2:3: document d: retries must be a number", ""},
    {"documents:\n  doc: {search: [u]}\n", "2:3: document doc: ", "cannot be searched"},
};

Test(apply, a_file_that_is_wrong_is_refused_with_line_and_column) {
  begin(&f, "apply_wrong");
  sql(f.at_source, "select rowrelay.add_target('dw', 'postgresql://dw/warehouse'); "
                   "select rowrelay.capture_table('plain', target => 'dw'); "
                   "select rowrelay.add_document('doc', 'dw', 'id', 'select id from plain where id = any ($1)', "
                   "'{plain:id}')");
  /* What is right before it is not done either. */
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    refuses(&f, wrong[i].text, wrong[i].place, wrong[i].words);
  refuses(&f,
          "keep: 3 days\ntargets:\n  w: {url: \"stdout:\"}\ncaptures:\n  shop.lines:\n  shop.orders: {exclude: [u]}\n",
          "6:3: ", "\"u\"");
  /* No password is shown. */
  const char *errors;
  write_file("targets:\n  w: {url: \"postgresql://u:geheim@host/db\"}\n");
  cr_assert_eq(rowrelay(&f, NULL, &errors, "apply", path, NULL), 2);
  cr_assert_null(strstr(errors, "geheim"), "%s", errors);
  cr_assert_not_null(strstr(errors, "target URL contains a password"), "%s", errors);
  write_file("targets:\n  dw: {options: {secret: geheim}}\n");
  cr_assert_eq(rowrelay(&f, NULL, &errors, "apply", path, NULL), 2);
  cr_assert_null(strstr(errors, "geheim"), "%s", errors);
  end(&f);
}

Test(apply, what_was_done_before_a_failure_stays_and_the_next_run_does_the_rest) {
  static const char file[] = "keep: 9 days\n"
                             "targets: {w: {url: \"stdout:\"}}\n"
                             "captures:\n"
                             "  plain: {routes: {w: null}}\n"
                             "  shop.lines: {routes: {w: null}}\n"
                             "  shop.orders: {routes: {w: null}}\n";
  begin(&f, "apply_failure");
  PGconn *writer = connect_to(f.source, NULL);
  sql(writer, "begin; insert into shop.lines values (1)");
  write_file(file);
  const char *out;
  const char *errors;
  int status = rowrelay(&f, &out, &errors, "apply", path, "--lock-wait", "0", NULL);
  cr_assert_eq(status, 1, "%d %s", status, errors);
  cr_assert_str_eq(out, "target w: added\ncapture public.plain: added\nroute public.plain to w: added\n");
  cr_assert_not_null(strstr(errors, ":5:3: capture shop.lines: "), "%s", errors);
  cr_assert_not_null(strstr(errors, "3 of 8 changes were made; run it again for the rest"), "%s", errors);
  cr_assert_str_eq(ask(f.at_source, "select string_agg(relation::text, ' ') from rowrelay.captures"), "plain");
  cr_assert_str_eq(ask(f.at_source, "select count(*) from rowrelay.source where keep is null"), "1");
  sql(writer, "rollback");
  PQfinish(writer);
  cr_assert_str_eq(applies(&f, file, NULL), "capture shop.lines: added\nroute shop.lines to w: added\n"
                                            "capture shop.orders: added\nroute shop.orders to w: added\n"
                                            "keep: changed\n");
  cr_assert_str_eq(applies(&f, file, NULL), "");
  end(&f);
}

Test(apply, who_has_fewer_rights_is_told_what_is_missing) {
  struct shop s;
  const char *out;
  const char *errors;
  people_begin(&s, "apply_rights");
  const struct fixture *less[] = {&s.anna, &s.hand};
  write_file("keep: 9 days\n");
  for (size_t i = 0; i < 2; i++) {
    cr_assert_eq(rowrelay(less[i], &out, &errors, "export", NULL), 1);
    cr_assert_not_null(strstr(errors, "permission denied for view targets"), "%s", errors);
    cr_assert_not_null(strstr(errors, "rowrelay_admin"), "%s", errors);
    cr_assert_eq(rowrelay(less[i], &out, &errors, "apply", path, NULL), 1);
    cr_assert_not_null(strstr(errors, "rowrelay_admin"), "%s", errors);
    cr_assert_eq(rowrelay(less[i], &out, &errors, "capture", "shop.item", "--dry-run", NULL), 1);
    cr_assert_not_null(strstr(errors, "permission denied for function capture_statements"), "%s", errors);
  }
  /* An admin may do all of it, though the tables are not theirs. */
  static const char file[] =
      "keep: 9 days\n"
      "targets: {x: {url: \"stdout:\"}, w: {options: {retries: 2}}}\n"
      "captures: {shop.item: {exclude: [price], where: id > 0, routes: {x: null}}}\n"
      "documents:\n"
      "  d: {target: w, key: id, query: 'select id, word from shop.secret where id = any ($1)',\n"
      "      from: ['shop.secret:id']}\n";
  cr_assert_neq(*applies(&s.boss, file, NULL), '\0');
  cr_assert_str_eq(applies(&s.boss, file, NULL), "");
  cr_assert_str_eq(applies(&s.boss, strdup(rowrelay_ok(&s.boss, "export", NULL)), "--prune"), "");
  unlink(path);
  people_end(&s);
}

Test(apply, a_dry_run_of_capture_prints_what_capturing_then_does) {
  begin(&f, "apply_capture");
  sql(f.at_source, "select rowrelay.add_target('w', 'stdout:')");
  PGconn *writer = connect_to(f.source, NULL);
  sql(writer, "begin; insert into shop.orders values (1)");
  const char *before = strdup(state(&f));
  static const char *const where = "customer > 1";
  const char *said = strdup(rowrelay_ok(&f, "capture", "shop.orders", "--dry-run", "--to", "w", "--where", where,
                                        "--mask", "iban", "--lane", "customer", "--before", NULL));
  cr_assert_str_eq(state(&f), before);
  FAILS_WITH("column \"u\" of table shop.orders does not exist", "capture", "shop.orders", "--dry-run", "--exclude",
             "u");
  FAILS_WITH("target \"v\" does not exist", "capture", "shop.orders", "--dry-run", "--to", "v");
  cr_assert_str_eq(state(&f), before);
  sql(writer, "commit");
  PQfinish(writer);
  rowrelay_ok(&f, "capture", "shop.orders", "--to", "w", "--where", where, "--mask", "iban", "--lane", "customer",
              "--before", NULL);
  cr_assert_not_null(strstr(said, ask(f.at_source, "select prosrc from pg_proc where proname = 'capture_1'")), "%s",
                     said);
  cr_assert_eq(ask_number(f.at_source, "select count(*) from pg_trigger where tgname like '!%%'"), 7);
  for (int i = 0; i < 7; i++) {
    const char *name =
        ask(f.at_source, "select tgname from pg_trigger where tgname like '!%%' order by 1 offset %d", i);
    char made[100];
    snprintf(made, sizeof made, "create trigger \"%s\" ", name);
    cr_assert_not_null(strstr(said, made), "%s: %s", made, said);
  }
  /* Of a table that is captured it prints what another filter would replace. */
  before = strdup(state(&f));
  said = rowrelay_ok(&f, "capture", "shop.orders", "--dry-run", "--where", "", NULL);
  cr_assert_not_null(strstr(said, "drop trigger if exists \"!rowrelay_insert\" on shop.orders;\n"), "%s", said);
  cr_assert_not_null(strstr(said, "create trigger \"!rowrelay\" after insert or update or delete on shop.orders "),
                     "%s", said);
  cr_assert_str_eq(state(&f), before);
  end(&f);
}

Test(apply, a_dry_run_of_capture_gives_each_table_the_number_that_it_then_gets) {
  begin(&f, "apply_numbers");
  sql(f.at_source, "create table shop.a (id int primary key); create table shop.b (id int primary key);"
                   "create table shop.c (id int primary key)");
  rowrelay_ok(&f, "capture", "shop.b", NULL);
  const char *said = strdup(rowrelay_ok(&f, "capture", "shop.a", "shop.b", "shop.c", "shop.orders", "--dry-run", NULL));
  rowrelay_ok(&f, "capture", "shop.a", "shop.b", "shop.c", "shop.orders", NULL);
  for (int i = 0; i < 3; i++) {
    const char *made =
        ask(f.at_source,
            "select format('after insert or update or delete on %%s for each row  execute function "
            "rowrelay.capture_%%s(', relation_name, id) from rowrelay.capture where id > 1 order by id offset %d",
            i);
    char shown[300];
    snprintf(shown, sizeof shown, "create trigger \"!rowrelay\" %s", made);
    cr_expect_not_null(strstr(said, shown), "%s: %s", shown, said);
  }
  end(&f);
}

Test(apply, rows_that_newly_routed_tables_have_are_said_not_to_be_copied) {
  const char *out;
  const char *errors;
  begin(&f, "apply_uncopied");
  sql(f.at_source, "create table shop.empty (id int primary key); create table shop.\"Old one\" (id int primary key);"
                   "insert into shop.\"Old one\" values (1); insert into shop.orders values (1)");
  write_file("targets: {w: {url: 'postgresql:///nowhere'}, v: {url: 'postgresql:///elsewhere'}, x: {url: 'stdout:'}}\n"
             "captures:\n"
             "  shop.orders: {routes: {w: {}, v: {}, x: {}}}\n"
             "  shop.empty: {routes: {w: {}}}\n"
             "  'shop.\"Old one\"': {routes: {w: {}}}\n");
  cr_assert_eq(rowrelay(&f, &out, &errors, "apply", path, NULL), 0, "%s", errors);
  cr_expect_str_eq(errors, "rowrelay: the rows that these tables have already are not copied to w\n"
                           "hint: To copy them: rowrelay backfill shop.orders 'shop.\"Old one\"' --to w\n"
                           "rowrelay: the rows that the table has already are not copied to v\n"
                           "hint: To copy them: rowrelay backfill shop.orders --to v\n");
  cr_assert_eq(rowrelay(&f, &out, &errors, "apply", path, NULL), 0, "%s", errors);
  cr_expect_null(strstr(errors, "not copied"), "%s", errors);
  write_file("captures: {shop.orders: {routes: {w: {into: elsewhere}}}}\n");
  cr_assert_eq(rowrelay(&f, &out, &errors, "apply", path, NULL), 0, "%s", errors);
  cr_expect_str_eq(errors, "rowrelay: the rows that the table has already are not copied to w\n"
                           "hint: To copy them: rowrelay backfill shop.orders --to w\n");
  end(&f);
}
