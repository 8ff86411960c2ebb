/*
 * samples: values of every type that PostgreSQL has, and of types that people make of them, in tables of their own.
 */
#ifndef ROWRELAY_TESTS_SAMPLES_H
#define ROWRELAY_TESTS_SAMPLES_H

#include <stdbool.h>

#include "fixture.h"

struct samples {
  const char *type;
  const char *values[12]; /* as the type reads them */
};

extern const struct samples SAMPLES[];
extern const int SAMPLE_COUNT;

/* Makes the types that are not PostgreSQL's own, in schema app, and schema many for the tables. */
extern const char SAMPLES_TYPES[];

/* Whether source and target have the type of these samples, or it is one of ours. */
bool samples_known(struct fixture *fixture, int i);
/* Makes many.tN (COLUMNS v TYPE, a TYPE[]) at the source for each such type. */
void samples_make(struct fixture *fixture, const char *columns);
/* Fills them with the samples alone and in arrays of all shapes. */
void samples_fill(struct fixture *fixture);

#endif
