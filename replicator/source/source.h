/*
 * source: the database that changes are captured in, with schema rowrelay. All statements to it go through here.
 */
#ifndef ROWRELAY_SOURCE_SOURCE_H
#define ROWRELAY_SOURCE_SOURCE_H

#include <libpq-fe.h>

#include "common/error.h"
#include "postgres/pgconn.h"

struct source;

/* Connects; `conninfo` as for psql, NULL: as the PG* variables tell. On success the caller owns *source. */
MUST_CHECK bool source_open(struct source **source, const char *conninfo, struct error *error);
/* Adds to an error of the first connection what says where the source is, as source_open() does. Always false. */
bool source_explain_place(struct error *error);
/* The same, and gives up after so many milliseconds. */
MUST_CHECK bool source_open_within(struct source **source, const char *conninfo, int64_t timeout, struct error *error);
/*
 * The same, for a long-running process: with settings under which plans stay the same however full the queue is, and
 * both sides detect dead connections. It has then been checked that the schema is this program's, and whether the
 * server has lost change ids that targets may know: before that nothing may be claimed. Fails where the database was
 * restored, copied, upgraded or recovered since it delivered, unless `is_here` says that it is the source now.
 */
MUST_CHECK bool source_open_for_work(struct source **source, const char *conninfo, bool is_here, struct error *error);
/* The last step of that by itself. */
MUST_CHECK bool source_begin(struct source *source, bool is_here, struct error *error);
/* Whether it failed because the source is another database now, as far as is known: only a person ends that. */
bool source_is_elsewhere(const struct error *error);
/* Whether an attempt of this process to connect has failed since that time (clock_now()). Then whoever could do without
 * a connection for a while should close it, in case that there are too many. */
bool source_has_refused(int64_t since);
/*
 * For a command that captures one table after the other: takes a new session now and then. A session of the server
 * keeps what it has read of the catalogs, of each captured table some 150 kB. `done` tables are captured; none may be
 * in hand.
 */
MUST_CHECK bool source_renew_at_times(struct source *source, size_t done, struct error *error);
/* NULL is allowed. */
void source_close(struct source *source);

/* The newest migration that has been applied there; 0: schema rowrelay is not installed. */
#define SCHEMA_WITHOUT_CONTENTS (-1) /* only its definitions were restored */
MUST_CHECK bool source_schema_version(struct source *source, int *version, struct error *error);

/* An error with a hint, unless the schema there has this program's version. */
MUST_CHECK bool source_check_schema(struct source *source, struct error *error);

/* As pgconn_run() and pgconn_script(). */
MUST_CHECK bool source_run(struct source *source, const struct query *query, struct values values, PGresult **result,
                           struct error *error);
MUST_CHECK bool source_script(struct source *source, const char *text, struct error *error);

/* The connection; borrowed. */
struct pgconn *source_connection(struct source *source);

#endif
