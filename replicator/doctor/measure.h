/*
 * measure: what capturing a table costs its writers, measured on this server in one transaction that is rolled back.
 *
 * The table itself is neither read, written nor locked: tables with its columns and key are made from the catalogs, in
 * a schema of their own, and filled with rows made up. One of them is captured, if rowrelay is installed.
 */
#ifndef ROWRELAY_DOCTOR_MEASURE_H
#define ROWRELAY_DOCTOR_MEASURE_H

#include <stdint.h>

#include "common/error.h"
#include "source/source.h"

struct measure_order {
  const char *relation; /* its oid */
  bool installed;       /* whether it can be captured */
  bool json;
};

MUST_CHECK bool measure(struct source *source, const struct measure_order *order, struct error *error);

#endif
