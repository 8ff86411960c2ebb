/*
 * tokens: who may listen to changes over HTTP, and as which role of the source: a file with a line for each token,
 *
 *   NAME SHA-256 ROLE
 *
 * The name is for people and the log. The token itself stands nowhere: only its hash, in hexadecimal digits, which is
 * enough for a token that is long and random. Empty lines and those that begin with # count for nothing.
 */
#ifndef ROWRELAY_MONITOR_TOKENS_H
#define ROWRELAY_MONITOR_TOKENS_H

#include <stddef.h>

#include "common/error.h"

/* Environment variable: the file; without it nobody may listen. */
#define CHANGES_TOKENS "ROWRELAY_CHANGES_TOKENS"

#define TOKEN_NAME_SIZE 64 /* of names and roles, with their end: PostgreSQL's limit */

struct digest {
  unsigned char bytes[32];
};

struct token {
  char name[TOKEN_NAME_SIZE];
  char role[TOKEN_NAME_SIZE];
  struct digest digest;
};

struct tokens {
  struct token *items;
  size_t count;
};

/* Reads the file. On failure there is nothing to release; a line that cannot be read is FAILURE_USAGE. */
MUST_CHECK bool tokens_read(struct tokens *tokens, const char *path, struct error *error);
void tokens_release(struct tokens *tokens);

/* The hash of a token that somebody brought; false: it cannot be computed. */
MUST_CHECK bool tokens_hash(const char *token, struct digest *digest);
/* NULL: there is none with that hash. Takes as long in either case. */
const struct token *tokens_find(const struct tokens *tokens, const struct digest *digest);

#endif
