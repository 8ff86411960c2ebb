/* Policies: rows that one hides are told of, and never missing. Each test has a server of its own, as roles have. */
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

#include "mirrored.h"
#include "people.h"

/* Fails the test unless the statement is refused for rows that it does not see. */
static void is_told_of_hidden_rows(PGconn *connection, const char *statement) {
  people_may_not(connection, statement);
  cr_expect(strstr(PQerrorMessage(connection), "row-level security") != NULL, "%s: %s", statement,
            PQerrorMessage(connection));
}

/* FORCE ROW LEVEL SECURITY binds the owner, too, and who is a member of it. */
Test(policies, rows_that_a_policy_hides_are_told_of_and_never_missing) {
  struct shop s;
  const char *errors;
  people_begin(&s, "roles_policies");
  PGconn *super = s.fixture.at_source;
  PGconn *keeper = connect_to(s.fixture.source, "user=keeper");
  sql(super, "insert into shop.item select n, 'tea', n from generate_series(1, 10) as n");
  rowrelay_ok(&s.hand, "run", "--until-empty", NULL);
  sql(s.fixture.at_target, "truncate shop.item");
  sql(super, "alter table shop.item enable row level security, force row level security;"
             "create policy few on shop.item using (id <= 3) with check (true)");

  /* as a whole, in pieces after that failed, and in pieces at once */
  cr_expect(rowrelay(&s.boss, NULL, &errors, "backfill", "shop.item", "--to", "w", NULL) != 0);
  cr_expect(strstr(errors, "row-level security hides rows of table shop.item from role keeper") != NULL, "%s", errors);
  cr_expect(strstr(errors, "alter role keeper bypassrls") != NULL, "%s", errors);
  cr_expect_str_eq(ask(super, "select state <> 'done' from rowrelay.backfills"), "t");
  rowrelay_ok(&s.boss, "backfill", "shop.item", "--to", "w", "--cancel", NULL);
  cr_expect(rowrelay(&s.boss, NULL, &errors, "backfill", "shop.item", "--to", "w", "--no-copy", NULL) != 0);
  cr_expect(strstr(errors, "row-level security hides rows of table shop.item from role keeper") != NULL, "%s", errors);

  is_told_of_hidden_rows(s.as_boss, "select rowrelay.requeue('shop.item', 'w', '{1,9}')");
  is_told_of_hidden_rows(keeper, "select rowrelay.undo('shop.item', '9', change_id, apply => true) "
                                 "from rowrelay.history where key = '9' and op = 'insert'");
  people_may_not(keeper, "select * from rowrelay.as_of(null::shop.item, now())");

  /* nor are documents built without them */
  sql(super, "alter table shop.item no force row level security; grant select on shop.secret to hand");
  sql(s.as_boss,
      "select rowrelay.add_document('card', 'w', 'id', 'select s.id, i.name from shop.secret s "
      "left join shop.item i on i.id = s.id where s.id = any ($1)', "
      "array['shop.secret:id', 'shop.item(name):select i.id from shop.item i join changed c on c.id = i.id'], "
      "create_table => true)");
  sql(super, "insert into shop.secret values (9, 'x')");
  pid_t process = fixture_run(&s.hand, "--workers", "1", NULL);
  wait_until_says(process, "query would be affected by row-level security policy for table \"item\"", 20);

  sql(super, "alter role keeper bypassrls; alter role hand bypassrls");
  rowrelay_ok(&s.boss, "backfill", "shop.item", "--to", "w", NULL);
  wait_until_empty(&s.fixture, 20);
  cr_expect_str_eq(ask(s.fixture.at_target, "select name from card where id = 9"), "tea");
  cr_expect_str_eq(ask(s.fixture.at_target, "select count(*) from shop.item"), "10");
  cr_assert(stop_process(process, SIGTERM) == 0);
  PQfinish(keeper);
  people_end(&s);
}

/* A delete that finds no row because a policy hides it would leave the row in the mirror for good. */
static void hide_and_delete(struct fixture *f, PGconn *mirror, const char *table) {
  sql(mirror,
      "alter table %1$s enable row level security; alter table %1$s force row level security;"
      "create policy few on %1$s using (id > 3)",
      table);
  sql(f->at_source, "delete from shop.item where id < 3");
  pid_t process = fixture_run(f, "--workers", "1", NULL);
  wait_until_says(process, "row-level security", 20);
  sql(mirror, "alter table %s no force row level security", table);
  sql(mirror, "alter table %s disable row level security", table);
  wait_until(mirror, "3 4", 60, "select string_agg(id::text, ' ' order by id) from %s", table);
  cr_assert(stop_process(process, SIGTERM) == 0);
}

/* The first one requested: what stands in its way is in nobody else's. */
Test(policies, a_table_that_cannot_be_read_stops_no_other_backfill_and_is_told_of) {
  struct shop s;
  const char *output;
  const char *errors;
  people_begin(&s, "roles_unreadable");
  PGconn *super = s.fixture.at_source;
  sql(super, "insert into shop.item values (1, 'tea', 1); insert into shop.secret values (1, 'sesame');"
             "grant select on shop.secret to hand");
  rowrelay_ok(&s.hand, "run", "--until-empty", NULL);
  sql(s.fixture.at_target, "truncate shop.item, shop.secret");
  sql(super, "alter table shop.item enable row level security, force row level security");
  sql(s.as_boss, "select rowrelay.backfill('shop.item', 'w'), rowrelay.backfill('shop.secret', 'w')");
  pid_t process = fixture_run(&s.hand, "--workers", "1", NULL);
  wait_until(s.fixture.at_target, "sesame", 20, "select word from shop.secret");
  const char *said = ask(s.as_boss, "select note from rowrelay.status");
  cr_expect(strstr(said, "row-level security hides rows of table shop.item from role keeper") != NULL, "%s", said);
  cr_expect(strstr(said, "alter role keeper bypassrls") != NULL, "%s", said);
  /* It is told of once, although it is tried again. */
  static const char TOLD[] = "warning: backfill of shop.item to w: row-level security hides rows";
  wait_until_says(process, TOLD, 5);
  sql(super, "update rowrelay.backfill set retry_at = null");
  wait_until(super, "t", 10, "select retry_at > now() from rowrelay.backfill where state = 'waiting'");
  cr_expect(strstr(strstr(process_log(process), TOLD) + 1, TOLD) == NULL, "%s", process_log(process));
  sql(super, "alter role keeper bypassrls; alter role hand bypassrls");
  wait_until(s.fixture.at_target, "tea", 20, "select name from shop.item");
  wait_until(super, "0", 20, "select count(*) from rowrelay.backfill where state <> 'done'");
  cr_assert(stop_process(process, SIGTERM) == 0);

  /* nor does it one of the same command */
  sql(s.fixture.at_target, "truncate shop.item, shop.secret");
  sql(super, "alter role keeper nobypassrls; alter role hand nobypassrls");
  cr_expect_neq(rowrelay(&s.boss, &output, &errors, "backfill", "shop.*", "--to", "w", NULL), 0);
  cr_expect(strstr(errors, "row-level security hides rows of table shop.item from role keeper") != NULL, "%s", errors);
  cr_expect(strstr(output, "shop.secret: 1 row queued for w") != NULL, "%s", output);
  people_end(&s);
}

Test(policies, a_mirrors_rows_that_a_policy_hides_are_not_taken_for_deleted) {
  struct shop s;
  people_begin(&s, "roles_mirror_policies");
  PGconn *super = s.fixture.at_source;
  sql(s.as_boss, "select rowrelay.unroute('shop.item', 'w')");
  sql(super, "create schema here authorization hand; grant create on database %s to hand", s.fixture.name);
  rowrelay_ok(&s.boss, "target", "add", "itself", "postgresql:", NULL);
  rowrelay_ok(&s.boss, "route", "shop.item", "itself", "--into", "here.item", "--create", NULL);
  sql(super, "insert into shop.item select n, 'tea', n from generate_series(1, 4) as n");
  rowrelay_ok(&s.hand, "run", "--until-empty", NULL);
  hide_and_delete(&s.hand, super, "here.item");

  char url[600];
  sql(s.fixture.at_target, "create role pusher login; grant create on database %s to pusher", s.fixture.name);
  snprintf(url, sizeof url, "postgresql://pusher@/%s?host=%s&port=5432", PQdb(s.fixture.at_target),
           PQhost(s.fixture.at_target));
  sql(s.as_boss, "select rowrelay.unroute('shop.item', 'itself')");
  rowrelay_ok(&s.boss, "target", "add", "far", url, NULL);
  rowrelay_ok(&s.boss, "route", "shop.item", "far", "--into", "far.item", "--create", NULL);
  sql(super, "truncate shop.item; insert into shop.item select n, 'tea', n from generate_series(1, 4) as n");
  rowrelay_ok(&s.hand, "run", "--until-empty", NULL);
  hide_and_delete(&s.hand, s.fixture.at_target, "far.item");
  sql(s.fixture.at_target, "drop owned by pusher cascade; drop role pusher");
  people_end(&s);
}
