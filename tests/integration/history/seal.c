/* Sealing: what was done to a day of the log that is over is found and named. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "past.h"

static char day[16]; /* that everything was captured on */

static void begin(struct fixture *f, const char *name) {
  fixture_begin(f, name);
  sql(f->at_source, "create schema shop; create table shop.item (id int primary key, name text, price numeric)");
  rowrelay_ok(f, "capture", "shop.item", "--before", NULL);
  sql(f->at_source, "insert into shop.item select n, 'item ' || n, n / 4.0 from generate_series(1, 100) as n;"
                    "update shop.item set price = price + 1 where id <= 50; delete from shop.item where id = 60");
  snprintf(day, sizeof day, "%s", past_move(f->at_source, 9));
}

static void seal_all(struct fixture *f, int block_size) {
  past_close(f->at_source);
  sql(f->at_source, "select rowrelay.seal_days()");
  sql(f->at_source, "select rowrelay.seal_next(1000000, %d)", block_size);
  cr_assert(ask_number(f->at_source, "select count(*) from rowrelay.seal where ends_day and day = '%s'", day) == 1);
}

/* What is wrong, in order: "changed:7:30 seal:0:-", kind, change and key. */
static const char *problems(struct fixture *f) {
  return ask(f->at_source,
             "select string_agg(format('%%s:%%s:%%s', problem, coalesce(change_id, 0), coalesce(key, '-')), ' '"
             " order by problem, change_id) from rowrelay.verify_log()");
}

Test(seal, a_log_that_nobody_touched_is_right_and_stays_so_under_any_settings) {
  struct fixture f;
  begin(&f, "seal_right");
  seal_all(&f, 40);
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.seal where day = '%s'", day) == 4);
  cr_assert(ask_number(f.at_source, "select sum(changes) from rowrelay.seal") == 151);
  sql(f.at_source,
      "create schema evil; create function evil.sha256(bytea) returns bytea language sql as 'select null::bytea';"
      "set search_path = evil, pg_catalog, public; set timezone = 'Asia/Kathmandu'; set datestyle = 'German';"
      "set bytea_output = escape; set extra_float_digits = -15; set intervalstyle = sql_standard");
  cr_expect_str_eq(problems(&f), "");
  cr_expect(strstr(rowrelay_ok(&f, "verify-log", NULL), "151 changes of ") != NULL);
  fixture_end(&f);
}

Test(seal, a_log_of_which_no_day_is_over_is_not_said_to_need_what_has_been_done) {
  struct fixture f;
  const char *errors;
  fixture_begin(&f, "seal_none");
  cr_expect_eq(rowrelay(&f, NULL, &errors, "verify-log", NULL), 2);
  cr_expect_str_eq(errors, "rowrelay: the log is not sealed\nhint: run: rowrelay seal\n");
  rowrelay_ok(&f, "seal", NULL);
  cr_expect_eq(rowrelay(&f, NULL, &errors, "verify-log", NULL), 2);
  cr_expect_str_eq(errors, "rowrelay: no day of the log is sealed yet\n"
                           "hint: \"rowrelay run\" seals each day after its end\n");
  fixture_end(&f);
}

Test(seal, changes_that_were_altered_removed_or_put_in_are_named) {
  struct fixture f;
  const char *output;
  begin(&f, "seal_named");
  seal_all(&f, 40);
  sql(f.at_source,
      "update rowrelay.change set new_row = '{\"id\":7,\"name\":\"item 7\",\"price\":0.01}' where key = '7' and op = "
      "'i';"
      "delete from rowrelay.change where key = '60' and op = 'd'; delete from rowrelay.change where id = 40;"
      "insert into rowrelay.change (id, txid, captured_at, day, capture, op, key)"
      " select n, txid, captured_at, day, capture, 'd', '99' from rowrelay.change, unnest(array[-5, 9000]) as n where "
      "id = 99");
  cr_expect_str_eq(problems(&f), "changed:7:7 inserted:-5:99 inserted:9000:99 removed:40:- removed:151:-");
  cr_expect(rowrelay(&f, &output, NULL, "verify-log", NULL) == 3);
  cr_expect(strstr(output, "changed: change 7 of shop.item, key 7, day ") != NULL, "%s", output);
  cr_expect(strstr(output, "removed: change 151 of shop.item, day ") != NULL, "%s", output);
  cr_expect(strstr(output, "inserted: change 9000 of shop.item, key 99, day ") != NULL, "%s", output);
  cr_expect(rowrelay(&f, &output, NULL, "verify-log", "--json", NULL) == 3);
  cr_expect(ask_number(f.at_source, "select count(*) from json_array_elements('%s'::json -> 'problems')", output) == 5);
  fixture_end(&f);
}

Test(seal, whatever_column_of_a_change_was_altered_it_is_found) {
  struct fixture f;
  begin(&f, "seal_columns");
  seal_all(&f, 1000);
  sql(f.at_source, "set timezone = 'UTC'");
  int64_t columns =
      ask_number(f.at_source, "select max(attnum) from pg_attribute where attrelid = 'rowrelay.change'::regclass");
  for (int64_t n = 1; n <= columns; n++) {
    const char *column = ask(f.at_source,
                             "select attname from pg_attribute where attrelid = 'rowrelay.change'::regclass"
                             " and attnum = %d and not attisdropped and attname not in ('id', 'day')",
                             (int)n);
    if (column[0] == '\0')
      continue;
    const char *type = ask(f.at_source,
                           "select format_type(atttypid, null) from pg_attribute"
                           " where attrelid = 'rowrelay.change'::regclass and attname = '%s'",
                           column);
    const char *value = ask(f.at_source,
                            "select case '%s' when 'json' then '{}' when 'text' then 'x' when 'inet' then '10.1.1.1' "
                            "when '\"char\"' then 's'"
                            " when 'timestamp with time zone' then '2026-01-05 10:00:00.000001' else '77' end",
                            type);
    sql(f.at_source, "begin; update rowrelay.change set %s = '%s' where id = 120", column, value);
    cr_expect_str_eq(problems(&f), strcmp(column, "key") == 0 ? "changed:120:x" : "changed:120:20", "%s", column);
    sql(f.at_source, "rollback");
  }
  /* the same text in another column */
  sql(f.at_source, "begin; update rowrelay.change set old_row = new_row, new_row = old_row where id = 1");
  cr_expect_str_eq(problems(&f), "changed:1:1");
  sql(f.at_source, "rollback");
  cr_expect_str_eq(problems(&f), "");
  fixture_end(&f);
}

Test(seal, seals_that_were_altered_or_removed_are_found) {
  struct fixture f;
  begin(&f, "seal_seals");
  seal_all(&f, 40);
  static const char *const attacks[][2] = {
      {"update rowrelay.seal set hashes = overlay(hashes placing '\\x00'::bytea from 5) where position = 2",
       "%seal 2 %"},
      {"update rowrelay.seal set content = sha256('') where position = 2", "%seal 2 %"},
      {"update rowrelay.seal set digest = sha256('') where position = 2", "%seal 2 %"},
      {"update rowrelay.seal set sealed_at = now() - interval '1 day' where position = 2", "%seal 2 %"},
      {"update rowrelay.seal set last_id = last_id + 1 where position = 2", "%seal 2 %"},
      {"update rowrelay.seal set ids = null where position = 2", "%seal 2 %"},
      {"delete from rowrelay.seal where position = 2", "%seal 3 follows seal 1%"},
      {"delete from rowrelay.seal where position = 1", "%seal 2 follows seal 0%"},
      {"do $$ begin execute (select format('drop table %s', p.partition) from rowrelay.partition_days() p order by "
       "p.day limit 1); end $$",
       "%removed%"},
  };
  for (size_t i = 0; i < sizeof attacks / sizeof attacks[0]; i++) {
    sql(f.at_source, "begin; %s", attacks[i][0]);
    cr_expect(ask_number(f.at_source, "select count(*) from rowrelay.verify_log() v where v::text like '%s'",
                         attacks[i][1]) > 0,
              "not found: %s", attacks[i][0]);
    sql(f.at_source, "rollback");
  }
  cr_expect_str_eq(problems(&f), "");
  fixture_end(&f);
}

Test(seal, a_head_kept_elsewhere_finds_a_log_that_was_sealed_anew) {
  struct fixture f;
  char head[80];
  const char *output;
  begin(&f, "seal_head");
  seal_all(&f, 40);
  snprintf(head, sizeof head, "%s", ask(f.at_source, "select rowrelay.seal_head()"));
  cr_expect(strstr(rowrelay_ok(&f, "verify-log", "--head", head, NULL), head) != NULL);
  sql(f.at_source, "delete from rowrelay.change where id = 40; delete from rowrelay.seal");
  seal_all(&f, 40);
  cr_expect(rowrelay(&f, NULL, NULL, "verify-log", NULL) == 0, "nothing else can tell");
  cr_expect(rowrelay(&f, &output, NULL, "verify-log", "--head", head, NULL) == 3);
  cr_expect(strstr(output, "head: ") != NULL && strstr(output, head) != NULL, "%s", output);
  sql(f.at_source, "delete from rowrelay.seal");
  cr_expect(rowrelay(&f, NULL, NULL, "verify-log", "--head", head, NULL) == 3);
  cr_expect(rowrelay(&f, NULL, NULL, "verify-log", "--head", "abc", NULL) == 2);
  cr_expect(rowrelay(&f, NULL, NULL, "verify-log", NULL) == 2, "nothing is sealed");
  fixture_end(&f);
}

Test(seal, a_head_stays_valid_when_later_days_are_sealed) {
  struct fixture f;
  char head[80];
  begin(&f, "seal_later");
  seal_all(&f, 40);
  snprintf(head, sizeof head, "%s", ask(f.at_source, "select rowrelay.seal_head()"));
  sql(f.at_source, "update shop.item set price = 5");
  snprintf(day, sizeof day, "%s", past_move(f.at_source, 5));
  seal_all(&f, 40);
  cr_expect(ask_number(f.at_source, "select count(*) from rowrelay.seal where day = '%s' and changes > 0", day) == 3);
  rowrelay_ok(&f, "verify-log", "--head", head, NULL);
  /* a day that had no partition when those around it were sealed */
  sql(f.at_source, "update shop.item set price = 6 where id = 1");
  past_move(f.at_source, 7);
  cr_expect(strncmp(problems(&f), "inserted:", 9) == 0, "%s", problems(&f));
  fixture_end(&f);
}

Test(seal, a_day_is_sealed_only_when_it_is_closed) {
  struct fixture f;
  begin(&f, "seal_closed");
  sql(f.at_source, "select rowrelay.seal_days()");
  cr_expect(ask_number(f.at_source, "select rowrelay.seal_next()") == 0);
  past_close(f.at_source);
  cr_expect(ask_number(f.at_source, "select rowrelay.seal_next()") > 0);
  cr_expect(ask_number(f.at_source,
                       "select count(*) from rowrelay.seal s where not exists"
                       " (select from rowrelay.day d where d.day = s.day and d.closed_at is not null)") == 0);
  fixture_end(&f);
}

Test(seal, what_retention_has_dropped_is_no_problem_and_its_digests_stay) {
  struct fixture f;
  char head[80];
  begin(&f, "seal_pruned");
  sql(f.at_source, "create table shop.note (id int primary key); select rowrelay.capture_table('shop.note');"
                   "insert into shop.note select generate_series(1, 10)");
  past_move(f.at_source, 9);
  seal_all(&f, 40);
  snprintf(head, sizeof head, "%s", ask(f.at_source, "select rowrelay.seal_head()"));
  rowrelay_ok(&f, "keep", "2 days", "shop.note", NULL);
  for (int i = 0; i < 3; i++)
    rowrelay_ok(&f, "prune", NULL);
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.change") == 151);
  rowrelay_ok(&f, "verify-log", "--head", head, NULL);
  sql(f.at_source, "begin; delete from rowrelay.change where id = 40");
  cr_expect_str_eq(problems(&f), "removed:40:-", "of the other table nothing may be missing");
  sql(f.at_source, "rollback");
  rowrelay_ok(&f, "prune", "--older-than", "2 days", NULL);
  cr_assert(ask_number(f.at_source, "select count(*) from rowrelay.change") == 0);
  sql(f.at_source, "select rowrelay.seal_next()");
  cr_expect(ask_number(f.at_source, "select count(*) from rowrelay.seal where hashes is not null and changes > 0") ==
            0);
  const char *output = rowrelay_ok(&f, "verify-log", "--head", head, NULL);
  cr_expect(strstr(output, "dropped by retention") != NULL, "%s", output);
  fixture_end(&f);
}

Test(seal, a_process_that_seals_leaves_when_it_is_told_to) {
  struct fixture f;
  begin(&f, "seal_leaves");
  sql(f.at_source, "create or replace function rowrelay.seal_next(changes integer "
                   "default 10000, block_size integer default 5000) returns integer language plpgsql as $$ begin "
                   "perform pg_sleep(90); return 0; end $$");
  past_close(f.at_source);
  sql(f.at_source, "select rowrelay.seal_days()");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  const char *sealing = "select count(*) from pg_stat_activity where datname = current_database() and wait_event = "
                        "'PgSleep'";
  wait_until(f.at_source, "1", 20, "%s", sealing);
  kill(process, SIGTERM);
  cr_assert(wait_process(process, 5) == 0);
  wait_until(f.at_source, "0", 5, "%s", sealing);
  cr_expect(ask_number(f.at_source, "select count(*) from rowrelay.instance") == 0);
  fixture_end(&f);
}

Test(seal, a_running_process_seals_by_itself) {
  struct fixture f;
  begin(&f, "seal_runs");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  sleep_seconds(0.5);
  cr_expect(ask_number(f.at_source, "select count(*) from rowrelay.seal") == 0, "nobody asked for it");
  cr_assert(stop_process(process, SIGTERM) == 0);
  past_close(f.at_source);
  sql(f.at_source, "select rowrelay.seal_days()");
  process = fixture_run(&f, "--workers", "1", NULL);
  wait_until(f.at_source, "1", 20, "select count(*) from rowrelay.seal where day = '%s' and ends_day", day);
  cr_expect_str_eq(problems(&f), "");
  cr_assert(stop_process(process, SIGTERM) == 0);
  fixture_end(&f);
}

Test(seal, the_command_seals_what_is_there_and_prints_the_head) {
  struct fixture f;
  begin(&f, "seal_command");
  past_close(f.at_source);
  const char *output = rowrelay_ok(&f, "seal", NULL);
  cr_expect(strstr(output, "151 changes of ") != NULL, "%s", output);
  cr_expect(strstr(output, ask(f.at_source, "select 'head ' || rowrelay.seal_head()")) != NULL, "%s", output);
  rowrelay_ok(&f, "seal", "--off", NULL);
  cr_expect_str_eq(ask(f.at_source, "select seals from rowrelay.source"), "f");
  rowrelay_ok(&f, "verify-log", NULL);
  fixture_end(&f);
}
