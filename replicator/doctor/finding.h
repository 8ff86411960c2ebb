/* finding: what a check has found, printed as it comes: a line for people, or an element of a JSON array. */
#ifndef ROWRELAY_DOCTOR_FINDING_H
#define ROWRELAY_DOCTOR_FINDING_H

#include <libpq-fe.h>

#include "common/error.h"
#include "postgres/pgconn.h"

struct findings {
  bool json;
  int printed;
  int failed; /* how many of them have to be mended */
};

struct finding {
  const char *level;   /* ok, warn or fail */
  const char *what;    /* was looked at */
  const char *tables;  /* names as a JSON array; NULL: it is not about tables */
  const char *meaning; /* what it means */
  const char *command; /* what helps; NULL: nothing has to */
};

void finding_add(struct findings *findings, const struct finding *finding);

/* That something failed, which is what `what` names. */
void finding_add_error(struct findings *findings, const char *what, const struct error *error);

/*
 * Adds what a query of layout "finding" says. If it fails, that is a finding too: a check that this role may not make
 * is left out with a warning.
 */
void finding_ask(struct findings *findings, struct pgconn *connection, const struct query *query, struct values values,
                 const char *what);

/* Ends the array. */
void finding_end(const struct findings *findings);

#endif
