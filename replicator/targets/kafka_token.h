/*
 * kafka_token: the token that a broker with SASL OAUTHBEARER asks for, from whoever gives tokens (OAuth 2.0 client
 * credentials). Debian's librdkafka cannot fetch one itself.
 */
#ifndef ROWRELAY_TARGETS_KAFKA_TOKEN_H
#define ROWRELAY_TARGETS_KAFKA_TOKEN_H

#include "targets/target_values.h"

struct kafka_token {
  struct buffer text; /* the caller's to release */
  int64_t lifetime;   /* seconds, from now */
};

/*
 * Asks oauth_url with sasl_username and sasl_password, the client's id and secret, and oauth_scope, which may be
 * missing. It may take ten seconds.
 */
MUST_CHECK bool kafka_token_fetch(struct kafka_token *token, const struct target_values *values, struct error *error);

#endif
