/*
 * request: what a command, or one object of a file that "rowrelay apply" reads, asks of the source: the call of one of
 * its functions. It can be run, or printed as SQL.
 */
#ifndef ROWRELAY_SETUP_REQUEST_H
#define ROWRELAY_SETUP_REQUEST_H

#include "common/buffer.h"
#include "common/error.h"
#include "source/source.h"

#define REQUEST_MOST_VALUES 15

struct request {
  const struct query *query;
  int count;
  char *values[REQUEST_MOST_VALUES]; /* owned; NULL: null */
};

/* Below, texts are copied, NULL leaves something as it is, and lists are PostgreSQL arrays. */

struct capture_wanted {
  const char *table; /* name or oid */
  const char *key;
  const char *lane;
  const char *columns;
  const char *exclude;
  const char *mask;   /* JSON */
  const char *where;  /* "": none */
  const char *before; /* "none" or "full" */
  const char *capture_origin;
  const char *per;
  const char *lock_wait; /* seconds; never NULL */
  const char *target;    /* to route it there too */
  const char *create;
  const char *like; /* what a mirror is created with: "minimal" or "full" */
  bool reset;       /* what is NULL becomes the default */
  int ahead;        /* only for statements: how many tables that are not captured are captured before it */
};

struct route_wanted {
  const char *table;
  const char *target;
  const char *into;
  const char *create;
  const char *like;
  const char *shared;
};

struct document_wanted {
  const char *name;
  const char *target;
  const char *key;
  const char *query;
  const char *sources;
  const char *into;
  const char *create;
  const char *search;
  const char *lock_wait; /* seconds; never NULL */
  const char *path;      /* where names are looked up; NULL: as in the session */
};

/* Out of memory is their only error. The caller owns the request, also then. */
MUST_CHECK bool request_init(struct request *request, const struct query *query, struct values values,
                             struct error *error);
MUST_CHECK bool request_capture(struct request *request, const struct capture_wanted *wanted, struct error *error);
/* The statements that capturing would run; changes nothing. */
MUST_CHECK bool request_capture_statements(struct request *request, const struct capture_wanted *wanted,
                                           struct error *error);
/* Whether `like` is known, and not said of a table that is not created; for what was typed. */
MUST_CHECK bool request_check_like(const char *like, bool create, struct error *error);
MUST_CHECK bool request_route(struct request *request, const struct route_wanted *wanted, struct error *error);
MUST_CHECK bool request_document_add(struct request *request, const struct document_wanted *wanted,
                                     struct error *error);
void request_release(struct request *request);

/* Runs requests in one transaction: all of them, or none. */
MUST_CHECK bool request_run(struct source *source, size_t count, const struct request *requests, struct error *error);

/* Appends it as SQL that psql can run, ended by a semicolon and a line break. */
void request_add_sql(struct buffer *sql, const struct request *request);

#endif
