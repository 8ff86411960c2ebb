#include "targets/signature.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <string.h>

static const char PREFIX[] = "whsec_";
static const char SPACES[] = " \t\r\n";
#define SHORTEST_KEY 24
#define LONGEST_KEY 64
#define LONGEST_TEXT 172 /* of such a key in base64, and some */

static bool complain(struct error *error) {
  error_set(error, FAILURE_FATAL, "a webhook secret cannot be read");
  return error_hint(error, "a secret is whsec_ and %d to %d bytes in base64; several are parted by spaces",
                    SHORTEST_KEY, LONGEST_KEY);
}

static bool read_key(struct signer *signer, const char *text, size_t length, struct error *error) {
  unsigned char decoded[LONGEST_TEXT];
  char padded[LONGEST_TEXT + 4];
  if (signer->count == SIGNATURE_KEYS)
    return error_set(error, FAILURE_FATAL, "there are more than %d webhook secrets", SIGNATURE_KEYS);
  if (length <= strlen(PREFIX) || strncmp(text, PREFIX, strlen(PREFIX)) != 0)
    return complain(error);
  text += strlen(PREFIX);
  length -= strlen(PREFIX);
  while (length > 0 && text[length - 1] == '=')
    length--;
  if (length > LONGEST_TEXT - 4)
    return complain(error);
  size_t padding = (4 - length % 4) % 4;
  memcpy(padded, text, length);
  memcpy(padded + length, "====", padding);
  int size = EVP_DecodeBlock(decoded, (const unsigned char *)padded, (int)(length + padding));
  if (padding > 2 || size < 0 || size - (int)padding < SHORTEST_KEY || size - (int)padding > LONGEST_KEY)
    return complain(error);
  signer->lengths[signer->count] = (size_t)size - padding;
  memcpy(signer->keys[signer->count], decoded, signer->lengths[signer->count]);
  signer->count++;
  OPENSSL_cleanse(decoded, sizeof decoded);
  OPENSSL_cleanse(padded, sizeof padded);
  return true;
}

bool signer_read(struct signer *signer, const char *secrets, struct error *error) {
  signer->count = 0;
  for (const char *c = secrets + strspn(secrets, SPACES); *c != '\0'; c += strspn(c, SPACES)) {
    size_t length = strcspn(c, SPACES);
    if (!read_key(signer, c, length, error))
      return false;
    c += length;
  }
  return signer->count > 0 || complain(error);
}

void signer_sign(const struct signer *signer, const struct message *message, struct buffer *signature) {
  const char *id = message->id;
  const char *timestamp = message->timestamp;
  for (size_t i = 0; i < signer->count; i++) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    char encoded[EVP_MAX_MD_SIZE * 2];
    size_t size = 0;
    EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_HMAC, NULL, signer->keys[i], signer->lengths[i]);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    size = sizeof digest;
    bool ok = key != NULL && context != NULL && EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) == 1 &&
              EVP_DigestSignUpdate(context, id, strlen(id)) == 1 && EVP_DigestSignUpdate(context, ".", 1) == 1 &&
              EVP_DigestSignUpdate(context, timestamp, strlen(timestamp)) == 1 &&
              EVP_DigestSignUpdate(context, ".", 1) == 1 &&
              EVP_DigestSignUpdate(context, message->body, message->length) == 1 &&
              EVP_DigestSignFinal(context, digest, &size) == 1;
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(key);
    if (!ok) {
      buffer_lack_memory(signature);
      return;
    }
    EVP_EncodeBlock((unsigned char *)encoded, digest, (int)size);
    buffer_add_format(signature, "%sv1,%s", i > 0 ? " " : "", encoded);
  }
}
