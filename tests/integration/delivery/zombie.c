/*
 * A process that has lost the source does not know it as long as it stands still, or its push is on the way. By the
 * time it goes on, another has claimed its lanes and has brought newer changes.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "mirrored.h"
#include "proxy.h"

/* A pair of tables, one without a key, and their mirrors in target "w". */
static void begin(struct fixture *f, const char *name) {
  fixture_begin(f, name);
  sql(f->at_source, "create table item (id int primary key, name text); create table note (what text)");
  proxy_add_target(f, NULL);
  rowrelay_ok(f, "capture", "item", "note", "--to", "w", "--create", NULL);
  sql(f->at_source, "insert into item values (1, 'old'), (2, 'old'); insert into note values ('old')");
  rowrelay_ok(f, "run", "--until-empty", NULL);
}

static void check_equal(struct fixture *f) {
  same_rows(f, "item", "item", "id");
  same_rows(f, "note", "note", "what");
}

/* A process whose way to the target is the proxy, and that has been through it. */
static pid_t run_behind(struct fixture *f, const struct proxy *proxy) {
  pid_t process = proxy_run(proxy, f);
  sql(f->at_source, "update item set name = 'through'; insert into note values ('through')");
  wait_until_empty(f, 10);
  check_equal(f);
  return process;
}

static void wait_until_held(struct fixture *f, const char *count) {
  wait_until(f->at_target, count, 10,
             "select count(distinct l.pid) from pg_locks l join pg_stat_activity a on a.pid = l.pid "
             "where not l.granted and a.datname = current_database()");
}

Test(zombie, a_push_that_arrives_after_its_lanes_were_claimed_by_another_is_refused) {
  struct fixture f;
  struct proxy proxy;
  begin(&f, "zombie_late");
  proxy_begin(&proxy, f.at_target);
  pid_t zombie = run_behind(&f, &proxy);
  proxy_hold(&proxy);
  sql(f.at_source, "begin; update item set name = 'first'; insert into note values ('once'); commit");
  proxy_wait_until_stuck(&proxy, 10);
  cut_off_from_source(&f);

  pid_t other = fixture_run(&f, "--workers", "1", NULL);
  sql(f.at_source, "update item set name = 'second' where id = 1; delete from item where id = 2");
  wait_until(f.at_target, "second", 10, "select name from item where id = 1");
  wait_until(f.at_target, "0", 10, "select count(*) from item where id = 2");
  wait_until(f.at_target, "1", 10, "select count(*) from note where what = 'once'");
  proxy_let_go(&proxy);

  wait_until_says(zombie, "another process has claimed the same lanes since", 10);
  cr_expect(strcmp(ask(f.at_target, "select name from item where id = 1"), "second") == 0);
  cr_expect(ask_number(f.at_target, "select count(*) from item where id = 2") == 0);
  cr_expect(ask_number(f.at_target, "select count(*) from note where what = 'once'") == 1);
  /* It continues. */
  cr_assert(stop_process(other, SIGTERM) == 0);
  sql(f.at_source, "update item set name = 'third'; insert into note values ('after')");
  wait_until_empty(&f, 10);
  check_equal(&f);
  cr_assert(stop_process(zombie, SIGTERM) == 0);
  proxy_end(&proxy);
  fixture_end(&f);
}

Test(zombie, a_push_that_arrives_after_its_target_was_dropped_and_added_again_is_refused) {
  struct fixture f;
  struct proxy proxy;
  begin(&f, "zombie_dropped");
  proxy_begin(&proxy, f.at_target);
  pid_t zombie = run_behind(&f, &proxy);
  proxy_hold(&proxy);
  sql(f.at_source, "begin; update item set name = 'first'; insert into note values ('once'); commit");
  proxy_wait_until_stuck(&proxy, 10);
  cut_off_from_source(&f);

  rowrelay_ok(&f, "target", "drop", "w", NULL);
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&f, "route", "item", "w", NULL);
  pid_t other = fixture_run(&f, "--workers", "1", NULL);
  sql(f.at_source, "update item set name = 'second'");
  wait_until(f.at_target, "2", 10, "select count(*) from item where name = 'second'");
  proxy_let_go(&proxy);

  wait_until_says(zombie, "another process has claimed the same lanes since", 10);
  same_rows(&f, "item", "item", "id");
  cr_expect(ask_number(f.at_target, "select count(*) from note where what = 'once'") == 0);
  /* Claims to come pass, also if the drop is lost at the source, as in a failover. */
  cr_expect(ask_number(f.at_target, "select max(token) from rowrelay_target.fence") <
            ask_number(f.at_source, "select nextval('rowrelay.claim_token')"));
  cr_assert(stop_process(other, SIGTERM) == 0);
  stop_process(zombie, SIGTERM);
  proxy_end(&proxy);
  fixture_end(&f);
}

Test(zombie, a_push_that_is_under_way_comes_before_that_of_who_claims_its_lanes_next) {
  struct fixture f;
  begin(&f, "zombie_under_way");
  PGconn *holder = connect_to(f.target, NULL);
  sql(holder, "begin; select from item where id = 1 for update");
  pid_t zombie = fixture_run(&f, "--workers", "1", NULL);
  sql(f.at_source, "update item set name = 'first' where id = 1");
  wait_until_held(&f, "1");
  kill(zombie, SIGSTOP);
  cut_off_from_source(&f);

  sql(f.at_source, "update item set name = 'second' where id = 1");
  pid_t other = fixture_run(&f, "--workers", "1", NULL);
  /* It has claimed the lane, and is held up by the fence. */
  wait_until_held(&f, "2");
  sql(holder, "commit");

  wait_until(f.at_target, "second", 10, "select name from item where id = 1");
  wait_until_empty(&f, 10);
  kill(zombie, SIGCONT);
  sql(f.at_source, "update item set name = 'after' where id = 2");
  wait_until_empty(&f, 10);
  sleep_seconds(0.5);
  check_equal(&f);
  /* The one that was cut off had a batch that was settled by another, and goes on. */
  cr_assert(stop_process(other, SIGTERM) == 0);
  sql(f.at_source, "update item set name = 'alone'");
  wait_until_empty(&f, 10);
  check_equal(&f);
  cr_assert(stop_process(zombie, SIGTERM) == 0);
  PQfinish(holder);
  fixture_end(&f);
}

Test(zombie, a_process_that_stops_before_its_push_finds_out_that_the_source_is_lost) {
  struct fixture f;
  begin(&f, "zombie_stopped");
  /* The target refuses, so that the process waits before it tries again. */
  sql(f.at_target, "create function refuse() returns trigger language plpgsql as $$ begin "
                   "perform nextval('tried'); raise exception 'not now'; end $$; create sequence tried; "
                   "create trigger refuse before insert or update on item for each row execute function refuse()");
  rowrelay_ok(&f, "target", "set", "w", "--option", "retries=20", NULL);
  pid_t zombie = fixture_run(&f, "--workers", "1", NULL);
  sql(f.at_source, "update item set name = 'first' where id = 1");
  wait_until(f.at_target, "t", 10, "select last_value > 5 from tried"); /* by now it pauses for most of the time */
  do {
    kill(zombie, SIGCONT);
    sleep_seconds(0.05);
    kill(zombie, SIGSTOP);
    sleep_seconds(0.05);
  } while (ask_number(f.at_target, "select count(*) from pg_stat_activity where datname = current_database() "
                                   "and application_name = 'rowrelay' and state <> 'idle'") > 0);
  cut_off_from_source(&f);
  sql(f.at_target, "drop trigger refuse on item");
  sql(f.at_source, "update item set name = 'second' where id = 1");
  pid_t other = fixture_run(&f, "--workers", "1", NULL);
  wait_until(f.at_target, "second", 10, "select name from item where id = 1");
  sql(f.at_target, "create table seen (name text); create function note() returns trigger language plpgsql as $$ begin "
                   "insert into seen values (new.name); return new; end $$; "
                   "create trigger note before insert or update on item for each row execute function note()");
  kill(zombie, SIGCONT);
  wait_until_says(zombie, "target w: source", 10);
  cr_expect(ask_number(f.at_target, "select count(*) from seen") == 0, "it pushed all the same");
  cr_expect(strstr(process_log(zombie), "another process") == NULL, "it was up to the fence to stop it");
  wait_until_empty(&f, 10);
  check_equal(&f);
  cr_assert(stop_process(other, SIGTERM) == 0);
  cr_assert(stop_process(zombie, SIGTERM) == 0);
  fixture_end(&f);
}

Test(zombie, a_process_that_stands_still_inside_the_fence_is_thrown_out_in_time) {
  struct fixture f;
  struct proxy proxy;
  begin(&f, "zombie_inside");
  rowrelay_ok(&f, "target", "set", "w", "--option", "push_timeout=2", NULL);
  proxy_begin(&proxy, f.at_target);
  pid_t zombie = run_behind(&f, &proxy);
  proxy_hold_answer_to(&proxy, "fence_pass");
  sql(f.at_source, "update item set name = 'first' where id = 1");
  proxy_wait_until_stuck(&proxy, 10);
  kill(zombie, SIGSTOP);
  cut_off_from_source(&f);

  pid_t other = fixture_run(&f, "--workers", "1", NULL);
  sql(f.at_source, "update item set name = 'second' where id = 1");
  wait_until(f.at_target, "second", 20, "select name from item where id = 1");
  proxy_let_go(&proxy);
  kill(zombie, SIGCONT);

  sql(f.at_source, "update item set name = 'third' where id = 2");
  wait_until_empty(&f, 10);
  sleep_seconds(0.5);
  check_equal(&f);
  cr_assert(stop_process(other, SIGTERM) == 0);
  cr_assert(stop_process(zombie, SIGTERM) == 0);
  proxy_end(&proxy);
  fixture_end(&f);
}

/* Its sessions stay, and with them its locks: it is not gone, and another process that runs does not hide it. */
Test(zombie, a_process_that_hangs_is_named_until_it_is_killed) {
  struct fixture f;
  struct proxy proxy;
  const char *output;
  begin(&f, "zombie_named");
  proxy_begin(&proxy, f.at_target);
  pid_t zombie = run_behind(&f, &proxy);
  proxy_hold_answer_to(&proxy, "fence_pass");
  sql(f.at_source, "update item set name = 'first' where id = 1");
  proxy_wait_until_stuck(&proxy, 10);
  kill(zombie, SIGSTOP);
  pid_t other = fixture_run(&f, "--workers", "1", NULL);
  wait_until(f.at_source, "2", 10, "select count(*) from rowrelay.instances where state = 'running'");
  wait_until(f.at_source, "hung running", 60, "select string_agg(state, ' ' order by state) from rowrelay.instances");
  char words[100];
  snprintf(words, sizeof words, "running t kill -KILL %d", (int)zombie);
  cr_expect_str_eq(ask(f.at_source,
                       "select concat(state, ' ', note ~ '^process %d on .* has said nothing for 3[0-9] s and may hold "
                       "lanes, for 240 s at most', ' ', substring(note from 'kill.*')) from rowrelay.status",
                       (int)zombie),
                   words);
  (void)rowrelay(&f, &output, NULL, "doctor", NULL);
  cr_expect_not_null(strstr(output, words + strlen("running t ")), "%s", output);
  kill(zombie, SIGKILL);
  proxy_let_go(&proxy);
  wait_until_empty(&f, 30);
  wait_until(f.at_source, "gone running", 10, "select string_agg(state, ' ' order by state) from rowrelay.instances");
  cr_expect_str_eq(ask(f.at_source, "select note from rowrelay.status"), "");
  check_equal(&f);
  cr_assert(stop_process(other, SIGTERM) == 0);
  proxy_end(&proxy);
  fixture_end(&f);
}

/* A database that was copied claims as its original does, so only the target can tell that both deliver to it. */
Test(zombie, a_copy_of_the_source_that_delivers_does_not_stop_it_silently) {
  struct fixture f;
  mirrored_begin(&f, "zombie_copy", "create table item (id int primary key, name text)");
  mirrored_capture(&f, "item");
  sql(f.at_source, "insert into item values (1, 'a'), (2, 'b')");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  /* the copy's claims begin at the number of microseconds since 2026 */
  sql(f.at_target,
      "update rowrelay_target.fence set token = extract(epoch from now() - '2026-01-01 00:00+00') * 1000000");
  sql(f.at_source, "update item set name = 'later'");
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  wait_until(f.at_source, "halted", 20, "select state from rowrelay.target where name = 'w'");
  const char *said = rowrelay_ok(&f, "target", "show", "w", NULL);
  cr_assert(strstr(said, "a copy of the source delivers to it, too") != NULL, "%s", said);
  rowrelay_ok(&f, "target", "resume", "w", NULL);
  wait_until(f.at_source, "0", 20, "select count(*) from rowrelay.queue");
  mirrored_same(&f, "item");
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  fixture_end(&f);
}

/* As where many tables are copied one after another while changes of others come: each copy raises all fences. */
Test(zombie, claims_that_come_too_late_for_what_the_source_itself_has_begun_do_not_stop_the_target) {
  struct fixture f;
  mirrored_begin(&f, "zombie_raised", "create table item (id int primary key, name text)");
  mirrored_capture(&f, "item");
  sql(f.at_source, "insert into item values (1, 'a')");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  /* More claims in succession are overtaken than are by chance; each tries twice. */
  sql(f.at_target, "create sequence tried; create function overtake() returns trigger language plpgsql as $$ begin "
                   "if nextval('tried') <= 30 then new.token := 0; end if; return new; end $$; "
                   "create trigger overtake before insert on rowrelay_target.fence "
                   "for each row execute function overtake()");
  sql(f.at_source, "update item set name = 'later'");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_until(f.at_target, "t", 20, "select last_value > 30 from tried");
  wait_until_empty(&f, 10);
  cr_expect(strcmp(ask(f.at_source, "select state from rowrelay.target where name = 'w'"), "running") == 0);
  cr_expect(strstr(process_log(process), "another process has claimed the same lanes since") != NULL);
  mirrored_same(&f, "item");
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  fixture_end(&f);
}

/* Numbers of targets, and the ids of changes, begin anew with it. */
Test(zombie, a_process_that_slept_while_rowrelay_was_installed_anew_ends_and_hides_no_change) {
  struct fixture f;
  mirrored_begin(&f, "zombie_installed", "create table item (id int primary key, name text)");
  mirrored_capture(&f, "item");
  pid_t zombie = fixture_run(&f, "--workers", "2", NULL);
  for (int i = 0; i < 3; i++) {
    sql(f.at_source, "insert into item select g, 'old' from generate_series(%d, %d) g", 100 * i + 1, 100 * i + 100);
    wait_until_empty(&f, 10);
    sleep_seconds(0.5);
  }
  kill(zombie, SIGSTOP);
  rowrelay_ok(&f, "uninstall", "--force", NULL);
  rowrelay_ok(&f, "init", NULL);
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  mirrored_capture(&f, "item");
  sql(f.at_source, "insert into item select g, 'new' from generate_series(301, 400) g");
  kill(zombie, SIGCONT);

  wait_until_says(zombie, "schema rowrelay was installed anew while this process ran", 15);
  cr_expect_eq(wait_process(zombie, 15), 2);
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  mirrored_same(&f, "item");
  fixture_end(&f);
}

/* Stops it where none of its sessions has a transaction open, so that nobody waits for it. */
static void stop_between_transactions(struct fixture *f, pid_t process) {
  double until = give_up_at(10);
  for (;;) {
    kill(process, SIGSTOP);
    sleep_seconds(0.05);
    if (ask_number(f->at_source, "select count(*) from pg_stat_activity where datname = current_database() and "
                                 "application_name like 'rowrelay%%' and state <> 'idle'") == 0)
      return;
    kill(process, SIGCONT);
    cr_assert(seconds_now() < until, "it has always a transaction open");
    sleep_seconds(0.03);
  }
}

/* What it knew is of a later time: the ids that come now are smaller than those that it has seen settled. */
Test(zombie, a_process_that_slept_while_the_database_was_restored_in_place_hides_no_change, .timeout = 120) {
  struct fixture f;
  char command[1600];
  mirrored_begin(&f, "zombie_restored", "create table item (id int primary key, name text)");
  needs_pg_dump(f.at_source);
  mirrored_capture(&f, "item");
  sql(f.at_source, "insert into item select g, 'old' from generate_series(1, 100) g");
  mirrored_deliver(&f);
  snprintf(command, sizeof command,
           "bin=$(tests/support/pg.sh bin); dump=/tmp/rowrelay-$PPID.dump; $bin/pg_dump -Fc -f $dump '%s'", f.source);
  cr_assert_eq(system(command), 0);
  pid_t zombie = fixture_run(&f, "--workers", "2", NULL);
  for (int i = 1; i <= 3; i++) {
    sql(f.at_source, "update item set name = 'lost %d'", i);
    wait_until_empty(&f, 10);
    sleep_seconds(0.5);
  }
  stop_between_transactions(&f, zombie);
  snprintf(command, sizeof command,
           "bin=$(tests/support/pg.sh bin); dump=/tmp/rowrelay-$PPID.dump;"
           " $bin/pg_restore --clean --if-exists -d '%s' $dump 2>/dev/null; rm $dump",
           f.source);
  cr_assert_eq(system(command), 0); /* it cannot drop partitions' indexes by themselves, and says so */
  sql(f.at_source, "update item set name = 'after' where id <= 5");
  kill(zombie, SIGCONT);
  cr_expect_eq(wait_process(zombie, 15), 1);
  cr_expect_str_eq(ask(f.at_target, "select count(*) from item where name = 'after'"), "0");
  zombie = fixture_run(&f, "--workers", "2", "--here", NULL);
  wait_until(f.at_source, "0", 15, "select count(*) from rowrelay.queue");
  cr_expect(ask_number(f.at_target, "select count(*) from item where name = 'after'") == 5);
  /* What only the target has is for verify. */
  cr_expect(rowrelay(&f, NULL, NULL, "verify", "w", "--repair", NULL) == 3);
  wait_until_empty(&f, 10);
  cr_assert(stop_process(zombie, SIGTERM) == 0);
  mirrored_same(&f, "item");
  fixture_end(&f);
}

/* As in the middle of a restore. */
Test(zombie, a_target_that_was_gone_for_a_moment_is_served_again) {
  struct fixture f;
  mirrored_begin(&f, "zombie_target", "create table item (id int primary key, name text)");
  mirrored_capture(&f, "item");
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  wait_until_says(process, "target w: 2 workers", 10);
  sleep_seconds(2); /* maintenance at its start, which would tidy up behind a dropped target */
  sql(f.at_source, "update rowrelay.target set dropped_at = now()");
  wait_until_says(process, "target w was dropped", 15);
  sleep_seconds(1.5); /* both have seen it */
  sql(f.at_source, "update rowrelay.target set dropped_at = null");
  sql(f.at_source, "insert into item values (1, 'new')");
  wait_until_empty(&f, 15);
  cr_assert(stop_process(process, SIGTERM) == 0);
  mirrored_same(&f, "item");
  fixture_end(&f);
}

/* A restore sets sequences when all tables are there: a process may have begun before. */
Test(zombie, ids_that_a_restore_sets_back_under_a_process_hide_no_change) {
  struct fixture f;
  mirrored_begin(&f, "zombie_sequence", "create table item (id int primary key, name text)");
  mirrored_capture(&f, "item");
  sql(f.at_source, "insert into item select g, 'old' from generate_series(1, 5) g");
  mirrored_deliver(&f);
  int64_t restored = ask_number(f.at_source, "select rowrelay.last_change_id() + 1000");
  sql(f.at_source, "select setval('rowrelay.server_run', 1); update rowrelay.source set server[5] = 'another'");
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  wait_until(f.at_source, "t", 10, "select rowrelay.last_change_id() > %lld", (long long)restored);
  sql(f.at_source, "update item set name = 'middle'");
  wait_until_empty(&f, 10);
  sleep_seconds(0.5);
  sql(f.at_source, "select setval('rowrelay.change_id', %lld), setval('rowrelay.server_run', 1)", (long long)restored);
  sql(f.at_source, "update item set name = 'new'");
  wait_until_says(process, "source: connected again", 15);
  wait_until(f.at_source, "0", 15, "select count(*) from rowrelay.queue");
  cr_expect(ask_number(f.at_target, "select count(*) from item where name = 'new'") == 5);
  cr_expect(ask_number(f.at_source, "select rowrelay.last_change_id()") > restored + 1000);
  cr_assert(stop_process(process, SIGTERM) == 0);
  mirrored_same(&f, "item");
  fixture_end(&f);
}

Test(zombie, a_process_whose_schema_is_gone_ends) {
  struct fixture f;
  mirrored_begin(&f, "zombie_uninstalled", "create table item (id int primary key, name text)");
  mirrored_capture(&f, "item");
  pid_t process = fixture_run(&f, "--workers", "2", NULL);
  sql(f.at_source, "insert into item values (1, 'old')");
  wait_until_empty(&f, 10);
  rowrelay_ok(&f, "uninstall", "--force", NULL);
  wait_until_says(process, "schema rowrelay is not installed", 15);
  cr_expect_eq(wait_process(process, 15), 2);
  fixture_end(&f);
}
