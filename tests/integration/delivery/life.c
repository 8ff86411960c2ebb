/*
 * Which database this is. Upkeep of tables never makes it another one; a copy of it delivers nothing until somebody
 * says that it is the source now.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mirrored.h"

static void begin(struct fixture *f, const char *name) {
  mirrored_begin(f, name, "create table item (id int primary key, name text)");
  mirrored_capture(f, "item");
  sql(f->at_source, "insert into item values (1, 'first')");
  mirrored_deliver(f);
}

/* ---- upkeep ---------------------------------------------------------------------------------------------------- */

/* Changes arrive, from a process that was there before and from one that begins now, and nothing is told. */
static void goes_on(struct fixture *f, pid_t process, const char *after) {
  const char *log;
  sql(f->at_source, "update item set name = '%s'", after);
  wait_until(f->at_target, after, 10, "select name from item");
  sql(f->at_source, "update item set name = '%s again'", after);
  cr_assert_eq(rowrelay(f, NULL, &log, "run", "--until-empty", NULL), 0, "%s", log);
  same_rows(f, "item", "item", "id");
  cr_expect_null(strstr(log, "change ids continue"), "%s: %s", after, log);
  cr_expect_null(strstr(process_log(process), "source: connected again"), "%s: %s", after, process_log(process));
  cr_expect_str_eq(ask(f->at_source, "select coalesce(rowrelay.another_life(), '') || coalesce(string_agg(note, ''), "
                                     "'') from rowrelay.status"),
                   "", "%s", after);
}

Test(life, rewriting_or_reloading_our_tables_never_makes_another_database) {
  static const char *const UPKEEP[] = {"vacuum full", "cluster rowrelay.migration using migration_pkey",
                                       "vacuum full rowrelay.source", "update rowrelay.migration set version = version",
                                       "create temp table m as table rowrelay.migration; truncate rowrelay.migration; "
                                       "insert into rowrelay.migration select * from m"};
  struct fixture f;
  begin(&f, "life_upkeep");
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  wait_until_says(process, "target w: 2 workers", 10);
  for (size_t i = 0; i < sizeof UPKEEP / sizeof *UPKEEP; i++) {
    sql(f.at_source, "%s", UPKEEP[i]);
    char after[32];
    snprintf(after, sizeof after, "after %zu", i);
    goes_on(&f, process, after);
  }
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  fixture_end(&f);
}

Test(life, pg_repack_of_the_database_never_makes_another_one) {
  struct fixture f;
  char command[1024];
  begin(&f, "life_repack");
  if (strcmp(ask(f.at_source, "select count(*) from pg_available_extensions where name = 'pg_repack'"), "1") != 0)
    cr_skip_test("pg_repack is not installed for this server");
  sql(f.at_source, "create extension pg_repack");
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  wait_until_says(process, "target w: 2 workers", 10);
  for (int i = 0; i < 2; i++) {
    snprintf(command, sizeof command,
             "$(tests/support/pg.sh bin)/pg_repack -h '%s' -p %s -U postgres -d '%s' -k >/dev/null 2>&1",
             PQhost(f.at_source), PQport(f.at_source), f.name);
    cr_assert_eq(system(command), 0, "%s", command);
    goes_on(&f, process, i == 0 ? "after the first" : "after the second");
  }
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  fixture_end(&f);
}

/* As where what its queue is found by is gone for a moment. */
Test(life, run_never_says_that_nothing_is_pending_of_a_queue_it_did_not_read) {
  struct fixture f;
  begin(&f, "life_unread");
  sql(f.at_source, "update item set name = 'pending'");
  sql(f.at_source, "update rowrelay.source set server[2] = '1 1'");
  const char *log;
  cr_expect_eq(rowrelay(&f, NULL, &log, "run", "--until-empty", NULL), 1);
  cr_expect_null(strstr(log, "nothing is pending"), "%s", log);
  cr_expect_eq(ask_number(f.at_source, "select count(*) from rowrelay.queue"), 1);
  fixture_end(&f);
}

/* ---- copies ---------------------------------------------------------------------------------------------------- */

#define NOTHING "nothing is delivered from this database: it was "

/* Nothing leaves it, and everything that a person may ask says so. */
static void delivers_nothing(struct fixture *f, const char *happened) {
  char note[256];
  const char *said, *errors;
  char before[64];
  snprintf(before, sizeof before, "%s", ask(f->at_target, "select string_agg(name, ' ' order by id) from item"));
  snprintf(note, sizeof note, "%s since it delivered", happened);
  sql(f->at_source, "update item set name = 'of the copy'");
  for (int i = 0; i < 2; i++) {
    cr_assert_eq(rowrelay(f, NULL, &errors, "run", i == 0 ? "--until-empty" : NULL, NULL), 1, "%s", errors);
    cr_expect_not_null(strstr(errors, note), "%s", errors);
    cr_expect_not_null(strstr(errors, "If it is the source now, run: rowrelay resume --here."), "%s", errors);
  }
  said = rowrelay_ok(f, "status", NULL);
  cr_expect(strstr(said, NOTHING) != NULL && strstr(said, note) != NULL && strstr(said, "not running") != NULL, "%s",
            said);
  cr_expect_eq(rowrelay(f, &said, NULL, "doctor", NULL), 1);
  cr_expect(strstr(said, "fail  source") != NULL && strstr(said, note) != NULL, "%s", said);
  cr_expect_str_eq(ask(f->at_target, "select string_agg(name, ' ' order by id) from item"), before);
}

/* Until it is the source. */
static void delivers_again(struct fixture *f, bool by_option) {
  if (!by_option)
    cr_expect_str_eq(rowrelay_ok(f, "resume", "--here", NULL), "");
  rowrelay_ok(f, "run", "--until-empty", by_option ? "--here" : NULL, NULL);
  cr_expect_str_eq(ask(f->at_target, "select string_agg(distinct name, ' ') from item"), "of the copy");
  cr_expect_null(strstr(rowrelay_ok(f, "status", NULL), NOTHING));
  rowrelay_ok(f, "resume", "--here", NULL);
  rowrelay_ok(f, "run", "--until-empty", NULL);
}

/* The fixture's database under another name, restored or copied by the words of a shell: $bin, $source, $copy, $name.
 */
static struct fixture copy_beside(struct fixture *f, PGconn *server, const char *words) {
  struct fixture copy = *f;
  char command[2048];
  char made[64];
  snprintf(made, sizeof made, "%.40s_copy", f->name);
  snprintf(copy.source, sizeof copy.source, "%.440s dbname=%s", f->source, made);
  PQfinish(f->at_source);
  snprintf(command, sizeof command,
           "bin=$(tests/support/pg.sh bin); source='%s' copy='%s' name=%s made=%s; { %s; } >/dev/null 2>&1", f->source,
           copy.source, f->name, made, words);
  wait_until(server, "0", 10, "select count(*) from pg_stat_activity where datname = '%s'", f->name);
  cr_assert_eq(system(command), 0, "%s", command);
  f->at_source = connect_to(f->source, NULL);
  copy.at_source = connect_to(copy.source, NULL);
  return copy;
}

/* The one delivers, the other does not, until it is said to be the source. */
static void check_copy(const char *name, const char *words, bool by_option) {
  struct fixture f;
  begin(&f, name);
  needs_pg_dump(f.at_source);
  PGconn *server = connect_to(f.source, "dbname=postgres");
  struct fixture copy = copy_beside(&f, server, words);
  delivers_nothing(&copy, "restored or copied");
  sql(f.at_source, "update item set name = 'of the source'");
  mirrored_same(&f, "item");
  delivers_again(&copy, by_option);
  PQfinish(copy.at_source);
  sql(server, "drop database %s_copy", f.name);
  PQfinish(server);
  fixture_end(&f);
}

Test(life, a_restored_dump_delivers_nothing_until_it_is_said_to_be_here) {
  check_copy("life_dump",
             "$bin/createdb --maintenance-db \"$source\" $made; $bin/pg_dump \"$source\" | $bin/psql -Xq "
             "\"$copy\"",
             false);
}

Test(life, a_database_made_of_a_template_delivers_nothing_until_told_so) {
  check_copy("life_template", "$bin/createdb --maintenance-db \"$source dbname=postgres\" -T $name $made", true);
}

/* As a copy for tests beside it, and as a recovery in its place: the program cannot tell. */
Test(life, a_database_recovered_to_a_point_in_time_delivers_nothing_until_told_so) {
  struct fixture f;
  own_server("source", NULL);
  begin(&f, "life_recovered");
  in_source_directory(
      "chmod a+rwx . && runuser -u postgres -- bin/pg_basebackup -h \"$PWD\" -U postgres -D base -c fast -X stream "
      "2>/dev/null || bin/pg_basebackup -h \"$PWD\" -U postgres -D base -c fast -X stream");
  PQfinish(f.at_source);
  stop_server("source", "fast");
  in_source_directory("rm -rf data && mv base data && cp -p data/PG_VERSION data/recovery.signal && "
                      "echo \"restore_command = 'false'\" >>data/postgresql.conf && "
                      "echo \"recovery_target = 'immediate'\" >>data/postgresql.conf && "
                      "echo \"recovery_target_action = 'promote'\" >>data/postgresql.conf");
  start_server("source");
  f.at_source = connect_to(f.source, NULL);
  wait_until(f.at_source, "f", 20, "select pg_is_in_recovery()");
  delivers_nothing(&f, "recovered to a point in time");
  delivers_again(&f, false);
  fixture_end(&f);
}

/* A restore beneath it makes it a copy, too. */
Test(life, a_process_beneath_which_the_database_was_restored_ends) {
  struct fixture f;
  begin(&f, "life_beneath");
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  wait_until_says(process, "target w: 2 workers", 10);
  sql(f.at_source, "update rowrelay.source set server[2] = '1 1'");
  cr_expect_eq(wait_process(process, 20), 1);
  fixture_end(&f);
}
