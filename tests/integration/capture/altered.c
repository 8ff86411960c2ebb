/*
 * Between an alteration of a table and the next maintenance, trigger functions are those of the former table. Lanes are
 * not ordered among each other, so what they capture of a row has to stay in the row's lane, or be a barrier.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "mirrored.h"
#include "native.h"
#include "samples.h"

/* ---- other types and collations ---------------------------------------------------------------------------------- */

/* How table `it` is captured. */
struct way {
  const char *name;
  const char *key;     /* of the table */
  const char *capture; /* arguments of capture_table() after the table */
  bool by_module;
  bool by_old_transaction; /* one that began before the alteration and does not see it */
};

static const struct way WAYS[] = {
    {"rows", "k", "", false, false},
    {"all rows", "k", ", row_filter => 'v < 9', before => 'full'", false, false},
    {"rows of an old transaction", "k", "", false, true},
    {"rows with the module", "k", "", true, false},
    {"rows of an old transaction with the module", "k", "", true, true},
    {"statements", "k", ", per => 'statement'", false, false},
    {"lanes of another column", "id", ", lane => '{k}'", false, false},
    {"lanes of a table without a key", "", ", lane => '{k}'", false, false},
};

/* Beside PostgreSQL's types. A value of the type of a sample is one of these, too. */
#define COLLATION "create collation app.ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
static const struct samples OTHERS[] = {
    {"text collate \"C\"", {"Bob", "7"}},
    {"text collate app.ci", {"Bob", "7"}},
    {"varchar(9) collate app.ci", {"Bob", "7"}},
    {"text[] collate app.ci", {"{Bob}"}},
    {"app.word", {"Bob"}},
    {"numeric(10)", {"7", "1000"}},
    {"numeric(12,4)", {"7", "1.5"}},
    {"timestamp(0)", {"2024-01-01 12:00"}},
    {"varchar(40)", {"Bob"}},
    {"int4[]", {"{7}"}},
    {"int8[]", {"{7}"}},
    {"date[]", {"{2024-01-01}"}},
    {"timestamptz[]", {"{2024-01-01 12:00+00}"}},
};
#define OTHER_COUNT (int)(sizeof OTHERS / sizeof *OTHERS)

static const struct samples *kind_of_column(int i) {
  return i < OTHER_COUNT ? &OTHERS[i] : &SAMPLES[i - OTHER_COUNT];
}

/* SQLSTATE; "" after success. */
static const char *outcome(PGconn *connection, const char *statement) {
  static char state[6];
  PGresult *reply = PQexec(connection, statement);
  const char *given = PQresultErrorField(reply, PG_DIAG_SQLSTATE);
  snprintf(state, sizeof state, "%s", given == NULL ? "" : given);
  PQclear(reply);
  return state;
}

static int64_t type_of_k(struct fixture *f) {
  return ask_number(f->at_source,
                    "select atttypid from pg_attribute where attrelid = 'it'::regclass and attname = 'k'");
}

/* Whether the table could be altered with this value in it. */
static bool alter_between_writes(struct fixture *f, PGconn *writer, const struct way *way, const char *value,
                                 const char *new_type) {
  char statement[256];
  int64_t last = ask_number(f->at_source, "select coalesce(max(id), 0) from rowrelay.change");
  int64_t old_type = type_of_k(f);
  char *quoted = PQescapeLiteral(writer, value, strlen(value));
  sql(writer, "insert into it values (1, %s, 0)", quoted);
  PQfreemem(quoted);
  PGconn *old = way->by_old_transaction ? connect_to(f->source, "options='-c timezone=UTC'") : NULL;
  if (old != NULL)
    sql(old, "begin isolation level repeatable read; select count(*) from rowrelay.capture");
  snprintf(statement, sizeof statement, "alter table it alter k type %s", new_type);
  bool is_altered = *outcome(f->at_source, statement) == '\0';
  if (old != NULL && is_altered)
    sql(old, "update it set v = 1; commit");
  PQfinish(old);
  if (!is_altered) {
    sql(writer, "delete from it");
    return false;
  }
  sql(writer, "update it set v = 2; delete from it");
  /* where the type rounds its values, it has made another key of it */
  const char *lanes =
      ask(f->at_source,
          "select string_agg(concat(op, lane), ' ' order by id) from (select c.id, c.op, "
          "rowrelay.lane_position(q.lane) as lane, lag(rowrelay.lane_position(q.lane)) over (partition by case when %s "
          "then c.key end order by c.id) as former from rowrelay.change c left join rowrelay.queue q "
          "on q.change_id = c.id where c.id > %lld) as c "
          "having bool_or(lane <> former and lane >= 0 and former >= 0) or count(lane) < 3",
          type_of_k(f) == old_type ? "true" : "false", (long long)last);
  cr_expect_str_eq(lanes, "", "%s: '%s' becomes %s: %s", way->name, value, new_type, lanes);
  return true;
}

/* Everything can become a text, of whatever kind: one of them is enough. */
static const char CAN_BECOME[] =
    "create function app.category() returns text language plpgsql as $$ begin return (select t.typcategory::text from "
    "pg_attribute a "
    "join pg_type t on t.oid = a.atttypid where a.attrelid = 'it'::regclass and a.attname = 'k'); end $$;"
    "create function app.can_become(type text) returns boolean language plpgsql as $$ declare "
    "former text := app.category(); begin execute 'alter table it alter k type ' || type; "
    "raise sqlstate 'CANDO' using message = former = 'S' or app.category() <> 'S' or type = 'text'; "
    "exception when sqlstate 'CANDO' then return sqlerrm; when others then return false; end $$";

/* Whether table `it`, which is empty, can be altered so without USING. */
static bool can_become(struct fixture *f, const char *type) {
  return strcmp(ask(f->at_source, "select app.can_become($t$%s$t$)", type), "t") == 0;
}

/* How many alterations were tried of the type of these samples to another type. */
static int become_every_type(struct fixture *f, PGconn *writer, const struct way *way, const struct samples *kind) {
  bool others[256] = {false};
  char statement[256];
  int count = 0;
  snprintf(statement, sizeof statement, "create table it (id int not null, k %s not null, v int%s%s%s)", kind->type,
           *way->key != '\0' ? ", primary key (" : "", way->key, *way->key != '\0' ? ")" : "");
  if (*outcome(f->at_source, statement) != '\0') /* the type cannot be a key */
    return 0;
  for (int n = 0; n < OTHER_COUNT + SAMPLE_COUNT; n++)
    others[n] = kind_of_column(n) != kind && can_become(f, kind_of_column(n)->type);
  sql(f->at_source, "select rowrelay.capture_table('it'%s), rowrelay.route('it', 'w')", way->capture);
  if (!way->by_module || ask_number(f->at_source, "select count(*) from rowrelay.captures where native") == 1)
    for (int n = 0; n < OTHER_COUNT + SAMPLE_COUNT; n++) {
      /* from the last, because the first ones have the same hash in many types */
      for (int v = others[n] ? 11 : -1; v >= 0; v--)
        if (kind->values[v] != NULL && alter_between_writes(f, writer, way, kind->values[v], kind_of_column(n)->type)) {
          count++;
          sql(f->at_source, "alter table it alter k type %s using null", kind->type);
          break;
        }
    }
  sql(f->at_source, "select rowrelay.release_table('it'); drop table it; truncate rowrelay.queue, rowrelay.change");
  return count;
}

static void stay_in_their_lanes(int n, const char *name, int at_least) {
  const struct way *way = &WAYS[n];
  struct fixture f;
  int count = 0;
  fixture_begin(&f, name);
  if (way->by_module && !native_add_language(&f)) {
    fixture_end(&f);
    cr_skip_test("the server module was not built");
  }
  sql(f.at_source, "update rowrelay.source set native = %s", way->by_module ? "true" : "false");
  sql(f.at_source, "%s; " COLLATION "; create domain app.word as text collate app.ci", SAMPLES_TYPES);
  sql(f.at_source, "%s", CAN_BECOME);
  rowrelay_ok(&f, "target", "add", "w", "file:/dev/null", NULL);
  PGconn *writer = connect_to(f.source, "options='-c timezone=UTC'");
  for (int i = 0; i < OTHER_COUNT + SAMPLE_COUNT; i++)
    if (is_tried(i) && (i < OTHER_COUNT || samples_known(&f, i - OTHER_COUNT)))
      count += become_every_type(&f, writer, way, kind_of_column(i));
  cr_expect(count >= least_tried(at_least), "only %d alterations were tried", count);
  PQfinish(writer);
  fixture_end(&f);
}

Test(altered, rows_with_keys_of_another_type_or_collation_stay_in_their_lanes, .timeout = 600) {
  stay_in_their_lanes(0, "altered_rows", 100);
}

Test(altered, rows_that_are_filtered_stay_in_their_lanes, .timeout = 600) {
  stay_in_their_lanes(1, "altered_filtered", 100);
}

Test(altered, rows_that_an_older_transaction_writes_stay_in_their_lanes, .timeout = 600) {
  stay_in_their_lanes(2, "altered_old", 100);
}

Test(altered, rows_that_the_module_captures_stay_in_their_lanes, .timeout = 600) {
  stay_in_their_lanes(3, "altered_native", 100);
}

Test(altered, rows_that_the_module_captures_of_an_older_transaction_stay_in_their_lanes, .timeout = 600) {
  stay_in_their_lanes(4, "altered_native_old", 100);
}

Test(altered, rows_that_statements_write_stay_in_their_lanes, .timeout = 600) {
  stay_in_their_lanes(5, "altered_statements", 100);
}

Test(altered, rows_with_another_type_of_a_column_that_chooses_their_lane_stay_in_it, .timeout = 600) {
  stay_in_their_lanes(6, "altered_lane", 100);
}

Test(altered, rows_without_a_key_with_another_type_of_that_column_stay_in_their_lane, .timeout = 600) {
  stay_in_their_lanes(7, "altered_keyless", 100);
}

/* ---- other values of the same type ------------------------------------------------------------------------------- */

/* How many changes of a row are in another lane than the one before, and neither is a barrier. */
static const char *torn(struct fixture *f) {
  return ask(f->at_source,
             "select count(*) from (select rowrelay.lane_position(q.lane) as lane, lag(rowrelay.lane_position(q.lane)) "
             "over (partition by c.new_row ->> 'id' order by c.id) as former from rowrelay.change c "
             "join rowrelay.queue q on q.change_id = c.id where c.op in ('i', 'u')) as w "
             "where lane <> former and lane >= 0 and former >= 0");
}

static void become_other_values(const char *name, const char *table, const char *capture) {
  struct fixture f;
  mirrored_begin(&f, name, table);
  sql(f.at_source, "select rowrelay.capture_table('it'%s)", capture);
  sql(f.at_source, "select rowrelay.route('it', 'w', create_table => true)");
  PGconn *writer = connect_to(f.source, NULL);
  sql(writer, "insert into it select n, n, 0 from generate_series(1, 40) as n; truncate it");
  sql(f.at_source, "vacuum full it");
  sql(f.at_source, "analyze it");
  mirrored_maintain(&f);
  cr_assert_str_eq(ask(f.at_source, "select note from rowrelay.captures"), "", "it is emptied, not altered");
  sql(writer, "insert into it select n, n, 0 from generate_series(1, 40) as n");
  sql(writer, "update it set v = 1"); /* in one transaction it would be a barrier */
  cr_assert_str_eq(torn(&f), "0");
  sql(f.at_source, "alter table it alter k type int using k + 100");
  sql(writer, "update it set v = 2");
  cr_expect_str_eq(torn(&f), "0", "%s of 40", torn(&f));
  sql(writer, "begin; alter table it alter k type int using k + 100; update it set v = 3; commit");
  cr_expect_str_eq(torn(&f), "0", "%s of 40", torn(&f));
  mirrored_maintain(&f);
  cr_expect_str_eq(ask(f.at_source, "select note from rowrelay.captures"), "");
  sql(writer, "update it set v = 4 where id %% 3 = 0");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  same_rows(&f, "(select id, v from it)", "(select id, v from it)", "id");
  PQfinish(writer);
  fixture_end(&f);
}

Test(altered, rows_whose_column_for_the_lane_gets_other_values_of_its_type_are_not_in_two_lanes) {
  become_other_values("altered_using", "create table it (id int primary key, k int not null, v int)",
                      ", lane => '{k}'");
}

Test(altered, rows_of_partitions_whose_column_for_the_lane_gets_other_values_are_not_in_two_lanes) {
  become_other_values("altered_using_parts",
                      "create table it (id int primary key, k int not null, v int) partition by hash (id);"
                      "create table it_0 partition of it for values with (modulus 2, remainder 0);"
                      "create table it_1 partition of it for values with (modulus 2, remainder 1)",
                      ", lane => '{k}', before => 'full'");
}

/* ---- keys that may be null --------------------------------------------------------------------------------------- */

/* A mirror cannot find such a row by its key; it loses the row that the key was of. */
static void lose_not_null(const char *name, const char *capture, bool by_module) {
  struct fixture f;
  mirrored_begin(&f, name, "create table it (k int not null unique, v int)");
  if (by_module && !native_add_language(&f)) {
    fixture_end(&f);
    cr_skip_test("the server module was not built");
  }
  sql(f.at_source, "update rowrelay.source set native = %s", by_module ? "true" : "false");
  sql(f.at_source, "select rowrelay.capture_table('it', key => '{k}'%s)", capture);
  sql(f.at_source, "select rowrelay.route('it', 'w', create_table => true)");
  PGconn *writer = connect_to(f.source, NULL);
  sql(writer, "insert into it select n, 1 from generate_series(1, 20) as n; update it set v = 2 where k = 1");
  mirrored_deliver(&f);
  sql(f.at_source, "alter table it alter k drop not null");
  sql(writer, "update it set k = null, v = 3 where k = 1; update it set k = null where k in (2, 3);"
              "update it set v = 4 where k > 3 or k is null; insert into it values (null, 5);"
              "insert into it values (null, 6), (500, 6); update it set k = 2 where v = 5;"
              "update it set k = case when k > 15 then k end where k > 10;"
              "delete from it where k = 4 or v = 6 and k is null; delete from it where k = 5");
  /* many at once */
  sql(writer, "insert into it select nullif(n, 1500), 7 from generate_series(1001, %d) as n",
      strstr(capture, "statement") != NULL ? 2001 : 1501);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  same_rows(&f, "(select * from it where k is not null)", "it", "1");
  cr_expect_str_eq(ask(f.at_source,
                       "select concat_ws(' ', op, key, message, detail) from rowrelay.errors where "
                       "concat(message, detail) !~ 'its key is null|an older change of this table' limit 1"),
                   "");
  cr_expect(ask_number(f.at_source, "select count(*) from rowrelay.errors") > 9);
  PQfinish(writer);
  fixture_end(&f);
}

Test(altered, a_row_whose_key_becomes_null_leaves_the_mirror) {
  lose_not_null("altered_null", "", false);
}

Test(altered, a_row_with_its_image_before_whose_key_becomes_null_leaves_the_mirror) {
  lose_not_null("altered_null_before", ", before => 'full'", false);
}

Test(altered, a_row_of_another_lane_whose_key_becomes_null_leaves_the_mirror) {
  lose_not_null("altered_null_lane", ", lane => '{v}'", false);
}

Test(altered, a_filtered_row_whose_key_becomes_null_leaves_the_mirror) {
  lose_not_null("altered_null_filtered", ", row_filter => 'v < 9'", false);
}

Test(altered, a_row_that_the_module_captures_and_whose_key_becomes_null_leaves_the_mirror) {
  lose_not_null("altered_null_native", "", true);
}

Test(altered, a_row_of_a_statement_whose_key_becomes_null_leaves_the_mirror) {
  lose_not_null("altered_null_statement", ", per => 'statement'", false);
}

Test(altered, a_row_of_a_statement_with_its_image_before_whose_key_becomes_null_leaves_the_mirror) {
  lose_not_null("altered_null_statement_before", ", per => 'statement', before => 'full'", false);
}

/* Whoever reads or writes the partition waits until maintenance ends, and it must not wait for another table meanwhile.
 */
Test(altered, maintenance_waits_for_no_table_while_it_has_locked_another) {
  struct fixture f;
  mirrored_begin(&f, "altered_locks",
                 "create table parted (id int primary key) partition by range (id);"
                 "create table part partition of parted for values from (0) to (10);"
                 "create table long_altered (id int primary key, a int)");
  rowrelay_ok(&f, "capture", "parted", "long_altered", "--to", "w", "--create", NULL);
  mirrored_maintain(&f);
  sql(f.at_source, "alter table parted detach partition part; alter table long_altered add c int default 5");
  PGconn *other = connect_to(f.source, NULL);
  sql(other, "begin; alter table long_altered alter a type bigint");
  sql(f.at_source, "set statement_timeout = '8 s'");
  mirrored_maintain(&f);
  cr_expect_eq(ask_number(f.at_source, "select count(*) from pg_trigger where tgrelid = 'part'::regclass"), 0);
  sql(other, "commit");
  PQfinish(other);
  mirrored_maintain(&f);
  sql(f.at_source, "insert into long_altered values (1, 1, 1)");
  mirrored_same(&f, "long_altered");
  fixture_end(&f);
}
