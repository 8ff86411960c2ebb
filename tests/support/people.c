#include "people.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* Owns schema rowrelay and the tables; who captures, delivers, and reads. None of them is a superuser. */
static const char PEOPLE[] =
    "create role keeper login createrole; create role shopkeeper login; grant shopkeeper to keeper;"
    "create role boss login; create role hand login; create role anna login; create role app "
    "login; create role nobody login";

static const char SHOP[] =
    "create schema shop authorization keeper; grant usage on schema shop to public; set role keeper;"
    "create table shop.item (id int primary key, name text, price numeric);"
    "create table shop.secret (id int primary key, word text);"
    "grant select, insert, update, delete on shop.item, shop.secret to app;"
    "grant truncate on shop.secret to app; grant select on shop.item to anna, hand; reset role";

struct fixture people_seen_by(const struct fixture *fixture, const char *role) {
  struct fixture other = *fixture;
  char *user = strstr(other.source, "user=");
  snprintf(user, sizeof other.source - (size_t)(user - other.source), "user=%s dbname=%s", role, fixture->name);
  return other;
}

void people_begin(struct shop *s, const char *name) {
  struct fixture *f = &s->fixture;
  own_server("source", NULL);
  fixture_begin(f, name);
  rowrelay_ok(f, "uninstall", "--force", NULL);
  sql(f->at_source, "%s", PEOPLE);
  sql(f->at_source, "grant create on database %s to keeper; alter database %s owner to keeper", f->name, f->name);
  sql(f->at_source, "%s", SHOP);
  s->keeper = people_seen_by(f, "keeper");
  s->boss = people_seen_by(f, "boss");
  s->hand = people_seen_by(f, "hand");
  s->anna = people_seen_by(f, "anna");
  rowrelay_ok(&s->keeper, "init", "--roles", NULL);
  sql(f->at_source, "grant rowrelay_admin to boss; grant rowrelay_worker to hand; grant rowrelay_reader to anna");
  s->as_boss = connect_to(f->source, "user=boss");
  s->as_hand = connect_to(f->source, "user=hand");
  s->as_anna = connect_to(f->source, "user=anna");
  s->as_app = connect_to(f->source, "user=app");
  rowrelay_ok(&s->boss, "target", "add", "w", f->target_url, NULL);
  rowrelay_ok(&s->boss, "capture", "shop.item", "shop.secret", "--to", "w", "--create", NULL);
}

void people_end(struct shop *s) {
  PQfinish(s->as_boss);
  PQfinish(s->as_hand);
  PQfinish(s->as_anna);
  PQfinish(s->as_app);
  fixture_end(&s->fixture);
}

void people_may_not(PGconn *connection, const char *statement) {
  cr_expect_str_eq(sql_fails(connection, "%s", statement), "42501", "%s: %s", statement, PQerrorMessage(connection));
}
