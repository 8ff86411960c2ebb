/*
 * signature: signs what is sent as Standard Webhooks say (https://www.standardwebhooks.com): base64 of HMAC-SHA256 over
 * "id.timestamp.body".
 */
#ifndef ROWRELAY_TARGETS_SIGNATURE_H
#define ROWRELAY_TARGETS_SIGNATURE_H

#include "common/buffer.h"

#define SIGNATURE_KEYS 4
#define SIGNATURE_KEY_SIZE 128

struct signer {
  unsigned char keys[SIGNATURE_KEYS][SIGNATURE_KEY_SIZE];
  size_t lengths[SIGNATURE_KEYS]; /* bytes */
  size_t count;
};

/*
 * Reads secrets, "whsec_" and base64 of 24 to 64 bytes each, separated by spaces or line breaks. All of them sign, so
 * that a secret can be replaced without a gap.
 */
MUST_CHECK bool signer_read(struct signer *signer, const char *secrets, struct error *error);

/* The content to sign. */
struct message {
  const char *id;
  const char *timestamp;
  const char *body;
  size_t length; /* of the body */
};

/* Appends "v1,… v1,…", a signature by each key. */
void signer_sign(const struct signer *signer, const struct message *message, struct buffer *signature);

#endif
