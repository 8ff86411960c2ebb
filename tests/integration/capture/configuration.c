/* Who changes captures and targets, or the queue, at the same time: nobody ends as the victim of a deadlock. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

/* Tables a to d, some of them captured; targets t and u, with routes crosswise, and a document of two tables. */
static void begin(struct fixture *f, const char *name) {
  fixture_begin(f, name);
  sql(f->at_source, "create table a (id int primary key, v int); create table b (id int primary key, v int);"
                    "create table c (id int primary key, v int); create table d (id int primary key, v int);"
                    "create index on b (v);"
                    "select rowrelay.add_target('t', 'file:/tmp/none'), rowrelay.add_target('u', 'file:/tmp/none'),"
                    "       rowrelay.add_target('alone', 'file:/tmp/none');"
                    "select rowrelay.capture_table(r) from unnest('{a,b,c}'::regclass[]) as r;"
                    "select rowrelay.route(r, s) from unnest('{a,b,c}'::regclass[]) as r, unnest('{t,u}'::text[]) as s;"
                    "select rowrelay.add_document('p', 't', 'id', 'select a.id, b.v from a join b on b.v = a.id where "
                    "a.id = any ($1)',"
                    "                             '{a:id,b:v}')");
}

/* ---- one after the other ----------------------------------------------------------------------------------------- */

static const char *const COMMANDS[] = {
    "capture_table('b', before => 'full')",
    "capture_table('d')",
    "release_table('b')",
    "route('b', 'u')",
    "unroute('b', 'u')",
    "drop_target('u')",
    "set_target('u', options => '{\"retries\": 7}')",
    "pause('u')",
    "resume('u')",
    "drop_document('p')",
    "keep('1 day', '{b}')",
    "discard('b', 'u')",
    "add_target('more', 'file:/tmp/none')",
    "keep('1 day')",
    "skip_table('b')",
    "retry()",
    "skip()",
    "requeue('b', 'u', '{1}')",
    "replay('u', now())",
    "backfill('b', 'u')",
    "capture_natively(false)",
};

Test(configuration, who_changes_it_waits_before_anything_else_until_another_transaction_has_changed_it) {
  struct fixture f;
  begin(&f, "configuration_waits");
  for (size_t i = 0; i < sizeof COMMANDS / sizeof *COMMANDS; i++) {
    PGconn *first = connect_to(f.source, NULL);
    PGconn *second = connect_to(f.source, NULL);
    sql(first, "begin; select rowrelay.set_target('alone', options => '{\"retries\": 9}')");
    start(second, "select rowrelay.%s", COMMANDS[i]);
    wait_until(f.at_source, "t", 20,
               "select state = 'idle' or wait_event_type = 'Lock' from pg_stat_activity where pid = %d "
               "and query like 'select rowrelay.%%'",
               PQbackendPID(second));
    cr_expect(is_running(second), "%s does not wait", COMMANDS[i]);
    cr_expect_str_eq(
        ask(f.at_source,
            "select coalesce(string_agg(distinct relation::regclass::text, ' '), '') from pg_locks "
            "where pid = %d and locktype = 'relation' and mode in ('RowExclusiveLock', 'RowShareLock', "
            "'ShareRowExclusiveLock', 'AccessExclusiveLock') and relation::regclass::text !~ '^rowrelay.mutex'",
            PQbackendPID(second)),
        "", "%s has locked something before", COMMANDS[i]);
    PQrequestCancel(second);
    PQclear(PQgetResult(second));
    PQfinish(second);
    sql(first, "rollback");
    PQfinish(first);
  }
  fixture_end(&f);
}

/* Also a transaction of several commands, in any order. */
Test(configuration, transactions_that_change_the_same_in_another_order_do_not_deadlock) {
  struct fixture f;
  begin(&f, "configuration_order");
  PGconn *first = connect_to(f.source, NULL);
  PGconn *second = connect_to(f.source, NULL);
  sql(first, "begin; select rowrelay.route('a', 't')");
  start(second, "begin; select rowrelay.route('b', 'u'); select rowrelay.route('a', 't'); commit");
  wait_until_blocked(f.at_source, second, 20);
  sql(first, "select rowrelay.route('b', 'u'); commit");
  finish(second);
  PQfinish(first);
  PQfinish(second);
  fixture_end(&f);
}

/* It takes minutes where there are many, and nothing that it does can be in the way. */
Test(configuration, who_rebuilds_a_document_keeps_nobody_from_changing_or_dropping_it) {
  struct fixture f;
  begin(&f, "configuration_rebuild");
  PGconn *person = connect_to(f.source, NULL);
  sql(f.at_source, "insert into a values (1, 1), (2, 2)");
  sql(person, "begin; select rowrelay.rebuild('p')");
  sql(f.at_source, "set statement_timeout = '60s'; select rowrelay.pause('t')");
  sql(f.at_source, "select rowrelay.drop_document('p')");
  sql(person, "select rowrelay.resume('t'); commit");
  sql(f.at_source, "select * from rowrelay.maintain()");
  cr_expect_str_eq(ask(f.at_source, "select count(*) from rowrelay.queue q join rowrelay.target t "
                                    "on t.id = rowrelay.lane_target(q.lane) where t.name = 'p'"),
                   "0");
  PQfinish(person);
  fixture_end(&f);
}

/* ---- who is waited for ------------------------------------------------------------------------------------------- */

static char warned[1000];

static void keep_warning(void *unused, const char *message) {
  (void)unused;
  snprintf(warned, sizeof warned, "%s", message);
}

/* Also where the lock was taken in a subtransaction, whose number the server no longer knows. */
static const char *const HOLDERS[] = {
    "begin; select rowrelay.pause('alone')",
    "begin; savepoint s; select rowrelay.pause('alone'); release savepoint s",
    "begin; select rowrelay.add_target('more', 'file:/tmp/none')",
};

Test(configuration, who_waits_is_told_for_which_process) {
  struct fixture f;
  begin(&f, "configuration_told");
  for (size_t i = 0; i < sizeof HOLDERS / sizeof *HOLDERS; i++) {
    PGconn *first = connect_to(f.source, NULL);
    PGconn *second = connect_to(f.source, NULL);
    char expected[100];
    sql(first, "%s", HOLDERS[i]);
    PQsetNoticeProcessor(second, keep_warning, NULL);
    sql(second, "set client_min_messages to warning");
    start(second, "select rowrelay.resume('alone')");
    wait_until_blocked(f.at_source, second, 20);
    sql(first, "rollback");
    finish(second);
    snprintf(expected, sizeof expected,
             "WARNING:  waiting for another transaction that changes captures or targets: process %d\n",
             PQbackendPID(first));
    cr_expect_str_eq(warned, expected, "%s: %s", HOLDERS[i], warned);
    PQfinish(first);
    PQfinish(second);
  }
  fixture_end(&f);
}

/* ---- many at once ------------------------------------------------------------------------------------------------ */

#define SESSIONS 5
#define ROUNDS 60

static const char *const AT_ONCE[] = {
    "select rowrelay.route('a', 't')",
    "select rowrelay.route('b', 'u')",
    "select rowrelay.route('c', 't'), rowrelay.route('a', 'u')",
    "select rowrelay.unroute('b', 't')",
    "select rowrelay.unroute('a', 'u')",
    "select rowrelay.drop_target('t')",
    "select rowrelay.drop_target('u')",
    "select rowrelay.add_target('t', 'file:/tmp/none')",
    "select rowrelay.add_target('u', 'file:/tmp/none')",
    "select rowrelay.capture_table('a', target => 'u')",
    "select rowrelay.capture_table('b', target => 't')",
    "select rowrelay.set_target('t', options => '{\"retries\": 7}')",
    "select rowrelay.pause('u')",
    "select rowrelay.resume('u')",
    "select rowrelay.add_document('p', 'u', 'id', 'select a.id, b.v from a join b on b.v = a.id where a.id = any ($1)',"
    " '{a:id,b:v}')",
    "select rowrelay.drop_document('p')",
    "select rowrelay.rebuild('p')",
    "select rowrelay.skip_table('b')",
    "select rowrelay.keep('3 days')",
    "select rowrelay.retry()",
    "select rowrelay.discard('c', 't')",
    "alter table a add more int; alter table a drop more",
    "alter table b add more int; alter table b drop more",
    "delete from rowrelay.job; select * from rowrelay.maintain()",
    "insert into a values (1, 1), (2, 1) on conflict (id) do update set v = a.v + 1",
    "insert into c values (1, 1), (2, 1) on conflict (id) do update set v = c.v + 1",
};

/* Most fail, because there is no such target any more, or no route; nobody may fail by a deadlock. */
Test(configuration, whatever_is_done_at_once_nobody_deadlocks) {
  struct fixture f;
  begin(&f, "configuration_stress");
  PGconn *sessions[SESSIONS];
  unsigned seed = 20261124;
  for (int i = 0; i < SESSIONS; i++) {
    sessions[i] = connect_to(f.source, NULL);
    sql(sessions[i], "set client_min_messages = error; set deadlock_timeout = '5ms'");
  }
  for (int round = 0; round < ROUNDS; round++) {
    const char *sent[SESSIONS];
    for (int i = 0; i < SESSIONS; i++) {
      sent[i] = AT_ONCE[(unsigned)rand_r(&seed) % (sizeof AT_ONCE / sizeof *AT_ONCE)];
      start(sessions[i], "%s", sent[i]);
    }
    for (int i = 0; i < SESSIONS; i++)
      for (PGresult *reply; (reply = PQgetResult(sessions[i])) != NULL; PQclear(reply)) {
        const char *state = PQresultErrorField(reply, PG_DIAG_SQLSTATE);
        for (int row = 0; row < PQntuples(reply); row++) /* maintenance says which tasks failed */
          cr_assert_null(strstr(PQgetvalue(reply, row, 0), "deadlock"), "%s", PQgetvalue(reply, row, 0));
        cr_assert(state == NULL || strcmp(state, "40P01") != 0, "round %d: %s: %s", round, sent[i],
                  PQresultErrorMessage(reply));
      }
  }
  for (int i = 0; i < SESSIONS; i++)
    PQfinish(sessions[i]);
  fixture_end(&f);
}

/* ---- maintenance by hand ----------------------------------------------------------------------------------------- */

Test(configuration, maintenance_that_a_person_asks_for_is_done_at_once) {
  struct fixture f;
  begin(&f, "configuration_maintain");
  sql(f.at_source, "select * from rowrelay.maintain(); alter table a add more int");
  sql(f.at_source, "select * from rowrelay.maintain_when_due()");
  cr_expect_str_eq(ask(f.at_source, "select * from rowrelay.maintain()"),
                   "table public.a was altered: trigger function replaced");
  fixture_end(&f);
}

Test(configuration, maintenance_says_that_another_transaction_changes_captures) {
  struct fixture f;
  begin(&f, "configuration_busy");
  PGconn *person = connect_to(f.source, NULL);
  sql(person, "begin; select rowrelay.pause('alone')");
  sql(f.at_source, "alter table a add more int");
  cr_expect_str_eq(ask(f.at_source, "select * from rowrelay.maintain()  as m where m like 'another%%'"),
                   "another transaction is changing captures or targets: what is captured was left to the next run");
  sql(person, "commit");
  cr_expect_str_eq(ask(f.at_source, "select * from rowrelay.maintain()"),
                   "table public.a was altered: trigger function replaced");
  PQfinish(person);
  fixture_end(&f);
}
