/*
 * Nobody else's code runs with the rights of the schema's owner: neither a worker's, nor that of who owns a captured
 * table and its types. Each test has a server of its own, as roles have.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "people.h"

/*
 * evil.spy() is what somebody hostile puts wherever a type, a table or a policy takes a function. It counts the calls
 * that are made with the rights of the schema's owner; a sequence keeps them, also when all else is rolled back.
 */
static const char SPY[] =
    "create schema evil; grant usage, create on schema evil to public;"
    "create sequence evil.calls; grant usage on sequence evil.calls to public;"
    "create function evil.spy() returns bool language plpgsql as $f$ begin"
    "  if current_user = 'keeper' then perform pg_catalog.nextval('evil.calls'); end if; return true; end $f$";

static void spied_begin(struct shop *s, const char *name) {
  people_begin(s, name);
  sql(s->fixture.at_source, "%s", SPY);
}

/* Fails the test if evil.spy() ran with the rights of the schema's owner. */
static void nobody_ran_as_owner(const struct shop *s, const char *when) {
  cr_expect_str_eq(ask(s->fixture.at_source, "select is_called from evil.calls"), "f", "%s", when);
  sql(s->fixture.at_source, "select setval('evil.calls', 1, false)");
}

/* ---- a worker --------------------------------------------------------------------------------------------------- */

Test(rights, a_worker_cannot_make_up_a_row_that_the_owner_believes) {
  struct shop s;
  spied_begin(&s, "rights_row");
  sql(s.as_hand, "create function pg_temp.trap(int) returns bool language sql as 'select evil.spy()';"
                 "create domain pg_temp.bait as int check (pg_temp.trap(value));"
                 "create temp table trap (id pg_temp.bait primary key); grant select on trap to public");
  cr_expect_str_eq(sql_fails(s.as_hand,
                             "select rowrelay.backfill_holder(json_populate_record(null::rowrelay.backfill, "
                             "json_build_object('capture', (select min(id) from rowrelay.capture), 'part', "
                             "'trap'::regclass::oid, 'position', array[1])))"),
                   "42883");
  nobody_ran_as_owner(&s, "backfill_holder");
  people_end(&s);
}

/* ---- the owner of a captured table ------------------------------------------------------------------------------ */

Test(rights, a_role_can_be_dropped_when_its_captured_partitioned_table_is_dropped) {
  struct shop s;
  people_begin(&s, "rights_drop");
  PGconn *super = s.fixture.at_source;
  sql(super, "create role tenant; grant tenant to keeper; grant create on schema shop to tenant; set role tenant;"
             "create table shop.rent (id int, day date, primary key (id, day)) partition by range (day); reset role");
  sql(s.as_boss, "select rowrelay.capture_table('shop.rent')");
  sql(super, "drop table shop.rent; revoke create on schema shop from tenant");
  cr_expect_str_eq(sql_fails(super, "drop role tenant"), "2BP01");
  sql(super, "update rowrelay.job set held_until = now()");
  cr_expect_str_eq(ask(s.as_hand, "select * from rowrelay.maintain()"),
                   "table shop.rent was dropped: so is its trigger function");
  sql(super, "drop role tenant");
  cr_expect_str_eq(ask(super, "select note from rowrelay.captures where relation_name = 'shop.rent'"),
                   "the table is gone");
  people_end(&s);
}
