/*
 * table_names: finds the tables that patterns name, as rowrelay.matching_tables() does, in a database that may not have
 * schema rowrelay yet.
 */
#ifndef ROWRELAY_DOCTOR_TABLE_NAMES_H
#define ROWRELAY_DOCTOR_TABLE_NAMES_H

#include <stddef.h>

#include "common/buffer.h"
#include "common/error.h"
#include "source/source.h"

/* Appends their oids as an array. Without a pattern all tables match; one that matches nothing is wrong use. */
MUST_CHECK bool table_names_find(struct source *source, const char *const *patterns, size_t count, struct buffer *oids,
                                 struct error *error);

#endif
