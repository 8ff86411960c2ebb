/*
 * tokens: who may do something over HTTP: a file with a line for each token,
 *
 *   NAME SHA-256 GRANT
 *
 * The name is for people and the log. The token itself stands nowhere: only its hash, in hexadecimal digits, which is
 * enough for a token that is long and random. What is granted is a role of the source, to those who listen to changes,
 * or what may be done, to those who use the console. Empty lines and those that begin with # count for nothing.
 */
#ifndef ROWRELAY_MONITOR_TOKENS_H
#define ROWRELAY_MONITOR_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"

#define TOKEN_NAME_SIZE 64 /* of names and grants, with their end: PostgreSQL's limit */

struct digest {
  unsigned char bytes[32];
};

struct token {
  char name[TOKEN_NAME_SIZE];
  char grant[TOKEN_NAME_SIZE];
  bool has_digest; /* else nobody has the token: the name is told by somebody who is trusted */
  struct digest digest;
};

struct tokens {
  struct token *items;
  size_t count;
};

struct tokens_form {
  const char *line;                                      /* how a line should look, for people */
  bool allows_no_token;                                  /* - in place of the hash */
  bool (*check)(const char *grant, struct error *error); /* NULL: any grant will do */
};

/* Reads the file. On failure there is nothing to release; a line that cannot be read is FAILURE_USAGE. */
MUST_CHECK bool tokens_read(struct tokens *tokens, const struct tokens_form *form, const char *path,
                            struct error *error);
void tokens_release(struct tokens *tokens);

/* The hash of a token that somebody brought; false: it cannot be computed. */
MUST_CHECK bool tokens_hash(const char *token, struct digest *digest);
/* NULL: there is none with that hash. Takes as long in either case. */
const struct token *tokens_find(const struct tokens *tokens, const struct digest *digest);
/* The first line of that name that has no hash; NULL: there is none. Who has a token has to bring it. */
const struct token *tokens_without_hash(const struct tokens *tokens, const char *name);

#endif
