/*
 * call: what nearly every command does: connect to the source and call one of rowrelay's SQL functions for a user. An
 * error that the request itself caused is wrong use, not a failure.
 */
#ifndef ROWRELAY_CLI_CALL_H
#define ROWRELAY_CLI_CALL_H

#include "cli/option.h"
#include "common/error.h"
#include "source/source.h"

/* From now on, prints warnings of the source on stderr. */
void call_tell_warnings(struct source *source);

/*
 * Connects to the database of --dbname, whose schema must have this program's version, and prints the server's
 * warnings. From now on SIGTERM and SIGINT end waits, and cancel the statement at the server. The caller owns *source.
 */
MUST_CHECK bool call_open(struct source **source, const struct options *given, struct error *error);

/* As source_run(). */
MUST_CHECK bool call_run(struct source *source, const struct query *query, struct values values, PGresult **result,
                         struct error *error);

/* A timestamp as PostgreSQL writes it. */
struct moment {
  PGresult *reply; /* holds the text; the owner's to PQclear */
  const char *text;
};

/* Reads the time that an option gives; *moment stays unchanged if the option is not given. */
MUST_CHECK bool call_moment(struct source *source, const struct options *given, const char *option,
                            struct moment *moment, struct error *error);

/*
 * Says on stderr which of the tables that were asked for (an array of oids; NULL: all) the user may not read: views
 * show nothing of them, which would look as if nothing had happened there. Whether there were any is in *hidden, which
 * may be NULL.
 */
MUST_CHECK bool call_tell_hidden(struct source *source, const char *tables, bool *hidden, struct error *error);

/* Opens, runs one statement whose result is not wanted, and closes. */
MUST_CHECK bool call_execute(const struct options *given, const struct query *query, struct values values,
                             struct error *error);

/* Prints what the query returns as a table for people. */
MUST_CHECK bool call_print_table(struct source *source, const struct query *query, struct values values,
                                 struct error *error);
/* Prints the single value that the query returns, such as JSON. */
MUST_CHECK bool call_print_value(struct source *source, const struct query *query, struct values values,
                                 struct error *error);

/* Opens, prints `table`, or with option --json the value of `json`, and closes. Both take the same values. */
MUST_CHECK bool call_print(const struct options *given, const struct query *table, const struct query *json,
                           struct values values, struct error *error);

#endif
