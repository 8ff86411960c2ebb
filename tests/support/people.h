/*
 * people: a server on which everybody has a role of their own, and none of them but the test is a superuser. keeper
 * owns schema rowrelay and the tables, boss is an admin, hand a worker, anna a reader, app writes to the tables, and
 * nobody may do nothing.
 */
#ifndef ROWRELAY_TESTS_PEOPLE_H
#define ROWRELAY_TESTS_PEOPLE_H

#include "fixture.h"

/* Tables shop.item and shop.secret, of which anna and hand may read the first. */
struct shop {
  struct fixture fixture; /* its source as the superuser */
  struct fixture keeper;  /* the same as others see it */
  struct fixture boss;
  struct fixture hand;
  struct fixture anna;
  PGconn *as_boss;
  PGconn *as_hand;
  PGconn *as_anna;
  PGconn *as_app;
};

/* Both tables are captured, and go to "w". The source is a server of this test's own, as roles are a server's. */
void people_begin(struct shop *shop, const char *name);
void people_end(struct shop *shop);

/* The same fixture for another role. */
struct fixture people_seen_by(const struct fixture *fixture, const char *role);

/* The statement must be refused for want of a right. */
void people_may_not(PGconn *connection, const char *statement);

#endif
