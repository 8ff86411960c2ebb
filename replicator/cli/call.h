/*
 * call: what nearly every command does: connect to the source and call one of rowrelay's SQL functions on behalf of a
 * person. What the server refuses because of what was asked for is wrong use, not failure.
 */
#ifndef ROWRELAY_CLI_CALL_H
#define ROWRELAY_CLI_CALL_H

#include "cli/option.h"
#include "common/error.h"
#include "source/source.h"

/* What the source warns of is told on stderr from now on. */
void call_tell_warnings(struct source *source);

/*
 * Connects to what --dbname says; the schema must be the one this program knows. What the server warns of is printed.
 * From now on a signal that asks the process to leave ends its waits, and what it waits for ends at the server too.
 * The caller owns *source.
 */
MUST_CHECK bool call_open(struct source **source, const struct options *given, struct error *error);

/* As source_run(). */
MUST_CHECK bool call_run(struct source *source, const struct query *query, struct values values, PGresult **result,
                         struct error *error);

/* A moment as PostgreSQL writes it. */
struct moment {
  PGresult *reply; /* holds the text; the owner's to PQclear */
  const char *text;
};

/* The moment that an option names, as people write it; it stays as it is where the option is not given. */
MUST_CHECK bool call_moment(struct source *source, const struct options *given, const char *option,
                            struct moment *moment, struct error *error);

/* Opens, runs one statement whose result is not wanted, and closes. */
MUST_CHECK bool call_once(const struct options *given, const struct query *query, struct values values,
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
