/*
 * source: the database that is copied from, in which schema rowrelay is installed. Everything that is said to it goes
 * through here.
 */
#ifndef ROWRELAY_SOURCE_SOURCE_H
#define ROWRELAY_SOURCE_SOURCE_H

#include <libpq-fe.h>

#include "common/error.h"
#include "postgres/pgconn.h"

struct source;

/* Connects; `conninfo` as psql takes it, NULL for what PG* variables say. On success the caller owns *source. */
MUST_CHECK bool source_open(struct source **source, const char *conninfo, struct error *error);
/* The same, and gives up after so many milliseconds. */
MUST_CHECK bool source_open_within(struct source **source, const char *conninfo, int64_t timeout, struct error *error);
/*
 * The same, for a process that stays: with settings under which every statement's plan is the same however full the
 * queue is, and dead connections are found out by both sides. The schema there is the one that this program was built
 * with, and the server has been asked whether it forgot change ids that targets may know: before that nothing may be
 * claimed.
 */
MUST_CHECK bool source_open_for_work(struct source **source, const char *conninfo, struct error *error);
/* NULL is allowed. */
void source_close(struct source *source);

/* The newest migration that has been applied there; 0: schema rowrelay is not installed. */
#define SCHEMA_WITHOUT_CONTENTS (-1) /* somebody restored its definitions only */
MUST_CHECK bool source_schema_version(struct source *source, int *version, struct error *error);

/* An error that says what to do, unless the schema there is the one that this program was built with. */
MUST_CHECK bool source_check_schema(struct source *source, struct error *error);

/* As pgconn_run() and pgconn_script(). */
MUST_CHECK bool source_run(struct source *source, const struct query *query, struct values values, PGresult **result,
                           struct error *error);
MUST_CHECK bool source_script(struct source *source, const char *text, struct error *error);

/* Borrowed, for what only a connection can do. */
struct pgconn *source_connection(struct source *source);

#endif
