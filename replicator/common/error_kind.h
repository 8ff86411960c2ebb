/*
 * error_kind: what errors have in common that differ only in values, so that they are told, listed, retried and skipped
 * as one group: 'invalid input syntax for type integer: "x7"' of every row is one error, made many times.
 *
 * A value is what begins with a digit, what is quoted after a colon, and what stands in single quotes. Names of
 * constraints and columns stay, which PostgreSQL quotes within its sentences, in every language; so does JSON.
 */
#ifndef ROWRELAY_COMMON_ERROR_KIND_H
#define ROWRELAY_COMMON_ERROR_KIND_H

#include <stddef.h>

#include "common/error.h"

/* Room for a kind. Bytes. */
#define ERROR_KIND_SIZE (sizeof(((struct error *)NULL)->message) + 16)

/* Writes the message with "..." for each value, and the SQLSTATE behind it; the message alone where it has no value. */
void error_kind(const struct error *error, char *kind, size_t size);

#endif
