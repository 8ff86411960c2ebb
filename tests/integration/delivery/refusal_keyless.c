/* The fate of changes that a mirror of a table without a key refuses, and of those that come after them. */
#include <criterion/criterion.h>

#include "fixture.h"
#include "refused.h"

/*
 * Table log at the source has no key; its mirror takes no note 'bad'. There are rows (1, 'x') and, refused, (2, 'bad').
 */
static void begin_keyless(struct fixture *f, const char *name, const char *option, const char *option2) {
  fixture_begin(f, name);
  sql(f->at_source, "create table log (n int, note text)");
  sql(f->at_target, "create table log (n int, note text)");
  rowrelay_ok(f, "target", "add", "w", f->target_url, "--option", "retries=0", "--option", option, "--option", option2,
              NULL);
  rowrelay_ok(f, "capture", "log", "--to", "w", NULL);
  sql(f->at_source, "insert into log values (1, 'x')");
  refused_deliver(f);
  sql(f->at_target, "alter table log add constraint good check (note <> 'bad')");
  sql(f->at_source, "insert into log values (2, 'bad')");
  rowrelay(f, NULL, NULL, "run", "--until-empty", NULL); /* it fails if it sees that the target was halted */
  cr_assert_str_eq(refused_changes(f), "w insert error");
}

/* The target takes everything now. */
static void retry_keyless(struct fixture *f) {
  sql(f->at_target, "alter table log drop constraint good");
  rowrelay_ok(f, "retry", "--all", NULL);
  refused_deliver(f);
  cr_assert_str_eq(refused_changes(f), "");
  same_rows(f, "log", "log", "n, note");
}

Test(refusal, in_a_mirror_without_a_key_a_row_that_was_deleted_since_does_not_come_back) {
  struct fixture f;
  begin_keyless(&f, "refusal_keyless", "on_error=park", "on_error=park");
  sql(f.at_source, "delete from log where n = 2");
  refused_deliver(&f);
  cr_assert_str_eq(refused_changes(&f), "w insert error, w delete blocked");
  cr_assert_str_eq(ask(f.at_source, "select message from rowrelay.errors where state = 'blocked'"),
                   "an older change of this table, which has no key, was refused");
  retry_keyless(&f);
  /* The same within one batch */
  sql(f.at_target, "alter table log add constraint good check (note <> 'bad')");
  sql(f.at_source, "insert into log values (3, 'y'), (4, 'bad'), (5, 'z'); delete from log where n = 4;");
  refused_deliver(&f);
  cr_assert_str_eq(refused_changes(&f), "w insert error, w insert blocked, w delete blocked");
  retry_keyless(&f);
  fixture_end(&f);
}

/* Its mirror has the key that the source had when it was created. */
Test(refusal, a_table_that_is_captured_without_its_key_from_now_on_goes_into_a_mirror_that_has_it) {
  struct fixture f;
  fixture_begin(&f, "refusal_key_gone");
  sql(f.at_source, "create table log (n int primary key, note text)");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&f, "capture", "log", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into log select i, 'x' from generate_series(1, 5) as i");
  sql(f.at_source, "select rowrelay.release_table('log'), rowrelay.capture_table('log', key => '{}', target => 'w')");
  sql(f.at_source, "update log set note = 'y'; update log set n = n + 10; delete from log where n = 12");
  refused_deliver(&f);
  cr_assert_str_eq(refused_changes(&f), "");
  same_rows(&f, "log", "log", "n, note");
  sql(f.at_source, "update log set note = 'z'; update log set n = -n; insert into log values (1, 'a')");
  refused_deliver(&f);
  cr_assert_str_eq(refused_changes(&f), "");
  same_rows(&f, "log", "log", "n, note");
  fixture_end(&f);
}

Test(refusal, in_a_mirror_without_a_key_one_update_waits_for_another) {
  struct fixture f;
  begin_keyless(&f, "refusal_keyless_update", "on_error=park", "on_error=park");
  rowrelay_ok(&f, "skip", "--all", NULL);
  sql(f.at_source, "delete from log where n = 2");
  refused_deliver(&f);
  sql(f.at_source, "update log set note = 'bad'");
  refused_deliver(&f);
  sql(f.at_source, "update log set note = 'good', n = 7");
  refused_deliver(&f);
  cr_assert_str_eq(refused_changes(&f), "w update error, w update blocked");
  retry_keyless(&f);
  fixture_end(&f);
}

Test(refusal, in_a_mirror_without_a_key_what_waits_goes_on_after_a_skip) {
  struct fixture f;
  begin_keyless(&f, "refusal_keyless_skip", "on_error=park", "on_error=park");
  sql(f.at_source, "delete from log where n = 2; insert into log values (3, 'y')");
  refused_deliver(&f);
  cr_assert_str_eq(ask(f.at_target, "select string_agg(n::text, ' ' order by n) from log"), "1");
  cr_assert_str_eq(rowrelay_ok(&f, "skip", "--all", NULL), "1 discarded\n");
  refused_deliver(&f);
  cr_assert_str_eq(refused_changes(&f), "");
  same_rows(&f, "log", "log", "n, note");
  fixture_end(&f);
}

Test(refusal, in_a_mirror_without_a_key_a_skip_frees_what_came_after_the_table_was_captured_again) {
  struct fixture f;
  begin_keyless(&f, "refusal_keyless_again", "on_error=park", "on_error=park");
  rowrelay_ok(&f, "release", "log", NULL);
  sql(f.at_source, "delete from log where n = 2");
  rowrelay_ok(&f, "capture", "log", "--to", "w", NULL);
  sql(f.at_source, "insert into log values (3, 'y')");
  refused_deliver(&f);
  cr_assert_str_eq(refused_changes(&f), "w insert error, w insert blocked");
  rowrelay_ok(&f, "skip", ask(f.at_source, "select change_id from rowrelay.errors where state = 'error'"), NULL);
  refused_deliver(&f);
  cr_assert_str_eq(refused_changes(&f), "");
  same_rows(&f, "log", "log", "n, note");
  fixture_end(&f);
}

Test(refusal, in_a_mirror_without_a_key_a_truncate_ends_the_wait) {
  struct fixture f;
  begin_keyless(&f, "refusal_keyless_empty", "on_error=block", "on_error=park");
  sql(f.at_source, "insert into log values (3, 'y')");
  refused_deliver(&f);
  cr_assert_str_eq(refused_changes(&f), "w insert error, w insert blocked");
  sql(f.at_source, "insert into log values (4, 'y'); truncate log; insert into log values (5, 'z')");
  refused_deliver(&f);
  cr_assert_str_eq(refused_changes(&f), "");
  same_rows(&f, "log", "log", "n, note");
  fixture_end(&f);
}

Test(refusal, in_a_mirror_without_a_key_a_resumed_target_waits_for_what_was_refused) {
  struct fixture f;
  begin_keyless(&f, "refusal_keyless_halt", "on_error=halt", "on_error=halt");
  sql(f.at_source, "delete from log where n = 2");
  rowrelay_ok(&f, "target", "resume", "w", NULL);
  refused_deliver(&f);
  cr_assert_str_eq(refused_changes(&f), "w insert error, w delete blocked");
  retry_keyless(&f);
  fixture_end(&f);
}

/* What is sent at most once is recorded as refused before it is sent. */
Test(refusal, in_a_mirror_without_a_key_a_batch_does_not_wait_for_itself) {
  struct fixture f;
  begin_keyless(&f, "refusal_keyless_once", "claim=lease", "guarantee=at-most-once");
  sql(f.at_source, "create table other (n int)");
  sql(f.at_target, "create table other (n int)");
  rowrelay_ok(&f, "capture", "other", "--to", "w", NULL);
  sql(f.at_source, "insert into other values (1), (2), (3); delete from log where n = 2");
  refused_deliver(&f);
  cr_assert_str_eq(refused_changes(&f), "w insert error, w delete blocked");
  same_rows(&f, "other", "other", "n");
  retry_keyless(&f);
  fixture_end(&f);
}
