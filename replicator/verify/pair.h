/*
 * pair: the two sides of a comparison, source and target. Both are asked at the same time, so that a question
 * takes as long as the slower side needs. Values have the same texts on both sides.
 */
#ifndef ROWRELAY_VERIFY_PAIR_H
#define ROWRELAY_VERIFY_PAIR_H

#include "postgres/pgconn.h"
#include "source/settings.h"
#include "source/source.h"

enum side { SIDE_SOURCE, SIDE_TARGET, SIDE_COUNT };

struct pair {
  struct source *source;
  struct source *own; /* the target, if that is the source itself; else NULL */
  struct pgconn *connections[SIDE_COUNT];
  int64_t rows_received;
  int64_t bytes_received;
};

/* One statement for one side. */
struct question {
  enum side side;
  struct query query;
  const char *safe; /* borrowed; the same, slower, for data on which the statement fails; NULL: there is none */
  struct values values;
  PGresult *reply; /* the asker's to PQclear; NULL when it failed */
};

/*
 * Connects to both; `conninfo` is the source's, and the target must be a mirror in a PostgreSQL database: the error
 * says why it cannot be compared otherwise. To be released also when it failed.
 */
MUST_CHECK bool pair_open(struct pair *pair, const char *conninfo, const struct settings *settings,
                          struct error *error);
/* Cancels what the servers may still be running. */
void pair_release(struct pair *pair);

/*
 * Asks all of them at once; each side answers in order. If one fails, all are asked once more if any has a safe text
 * to be asked by; and if one fails then, all count as failed.
 */
#define MOST_QUESTIONS 4
MUST_CHECK bool pair_ask(struct pair *pair, struct question *questions, size_t count, struct error *error);
/* Clears the replies. */
void pair_forget(struct question *questions, size_t count);

#endif
