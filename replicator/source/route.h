/*
 * route: how a captured table goes to one target: its names on both sides, and what identifies its rows.
 */
#ifndef ROWRELAY_SOURCE_ROUTE_H
#define ROWRELAY_SOURCE_ROUTE_H

#include <libpq-fe.h>
#include <stddef.h>

#include "common/error.h"

/* Texts are borrowed from the routes they are in. */
struct route {
  int capture;
  const char *relation;    /* the table's full name at the source, quoted where it must be */
  const char *number;      /* its oid, as commands take it: another table may have the name of one that is gone */
  const char *read_from;   /* array of captured tables at the source: itself, or what a document is built from */
  const char *into_table;  /* name at the target */
  bool create_table;       /* create it, and columns that it lacks */
  const char *key_columns; /* JSON array of names */
  bool keyless;            /* rows are identified by all their values */
  bool key_is_exact;       /* equal keys have equal texts */
  bool document;           /* no table: a query builds its rows */
  bool key_is_lost;        /* one of its columns was dropped */
  bool is_replaced;        /* the table is gone, and another one that is captured has its place at the target */
  const char
      *columns; /* JSON [{"name", "type", "leaves", "older_have", "older_names"}], see targets/sql/mirror_create.sql and
                   mirror_statements.sql; NULL unless create_table, and when the table is gone */
  const char
      *source_columns; /* JSON array of the names of the columns that are captured now, NULL: the table is gone */
  const char *hidden_columns; /* the same of those that it has and that are left out; NULL: none */
  const char
      *column_types; /* JSON [{"name", "type"}] of what is captured now, NULL unless option schema; and as above */
  const char *parts; /* JSON [{"kind", "name", "definition"}] of what else a mirror has, NULL unless it is like its
                        table in full */
  const char
      *identity;     /* of the captured table among those of all servers; NULL: the server does not say which it is */
  const char *types; /* JSON [{"schema", "type", "definition", "labels"}], NULL when there are none to make */
};

struct routes {
  struct route *routes; /* in order of capture */
  size_t count;
  PGresult *reply; /* owns their texts */
  bool document;   /* all changes have the only route, and make documents stale */
};

void routes_init(struct routes *routes);
void routes_release(struct routes *routes);

/* Reads the reply to target_routes.sql, which the routes then own; what they held before is released. */
MUST_CHECK bool routes_read(struct routes *routes, PGresult *reply, struct error *error);

/* NULL: not routed here. Valid until the routes are read again or released. */
const struct route *routes_find(const struct routes *routes, int capture);

#endif
