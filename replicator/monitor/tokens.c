#include "monitor/tokens.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "common/file_text.h"

#define LARGEST_FILE ((size_t)1024 * 1024)
#define BLANKS " \t\r"

static int hex_digit(char c) {
  const char *digits = "0123456789abcdef";
  const char *lower = c != '\0' ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;
  return lower != NULL ? (int)(lower - digits) : -1;
}

static bool read_digest(const char *text, size_t length, struct digest *digest) {
  if (length != 2 * sizeof digest->bytes)
    return false;
  for (size_t i = 0; i < sizeof digest->bytes; i++) {
    int high = hex_digit(text[2 * i]);
    int low = hex_digit(text[2 * i + 1]);
    if (high < 0 || low < 0)
      return false;
    digest->bytes[i] = (unsigned char)(high << 4 | low);
  }
  return true;
}

static bool copy_name(char name[TOKEN_NAME_SIZE], const char *text, size_t length) {
  if (length == 0 || length >= TOKEN_NAME_SIZE)
    return false;
  memcpy(name, text, length);
  name[length] = '\0';
  return true;
}

/* A line without its end; a role is what is left of it, blanks within included. */
static bool read_line(const char *line, struct token *token) {
  size_t name = strcspn(line, BLANKS);
  const char *hash = line + name + strspn(line + name, BLANKS);
  size_t digits = strcspn(hash, BLANKS);
  const char *role = hash + digits + strspn(hash + digits, BLANKS);
  size_t length = strlen(role);
  while (length > 0 && strchr(BLANKS, role[length - 1]) != NULL)
    length--;
  return copy_name(token->name, line, name) && read_digest(hash, digits, &token->digest) &&
         copy_name(token->role, role, length);
}

static bool read_lines(struct tokens *tokens, char *text, const char *path, struct error *error) {
  size_t number = 0;
  for (char *line = text; line != NULL; number++) {
    char *next = strchr(line, '\n');
    if (next != NULL)
      *next++ = '\0';
    const char *begin = line + strspn(line, BLANKS);
    line = next;
    if (*begin == '\0' || *begin == '#')
      continue;
    if (!read_line(begin, &tokens->items[tokens->count])) {
      error_set(error, FAILURE_USAGE, "file %s, line %zu: this is not \"NAME SHA-256 ROLE\"", path, number + 1);
      return error_hint(error, "the hash of a token: printf %%s \"$TOKEN\" | sha256sum");
    }
    tokens->count++;
  }
  return true;
}

bool tokens_read(struct tokens *tokens, const char *path, struct error *error) {
  struct buffer text;
  *tokens = (struct tokens){.count = 0};
  buffer_init(&text, LARGEST_FILE);
  buffer_add_string(&text, "");
  bool ok = file_text_read(&text, path, error);
  size_t lines = 1;
  for (size_t i = 0; ok && i < text.length; i++)
    lines += text.data[i] == '\n';
  if (ok) {
    tokens->items = calloc(lines, sizeof *tokens->items);
    ok = tokens->items != NULL ? read_lines(tokens, text.data, path, error)
                               : error_set(error, FAILURE_RETRY, "out of memory");
  }
  buffer_release(&text);
  if (!ok)
    tokens_release(tokens);
  return ok;
}

void tokens_release(struct tokens *tokens) {
  free(tokens->items);
  *tokens = (struct tokens){.count = 0};
}

bool tokens_hash(const char *token, struct digest *digest) {
  unsigned int length = sizeof digest->bytes;
  return EVP_Digest(token, strlen(token), digest->bytes, &length, EVP_sha256(), NULL) == 1;
}

const struct token *tokens_find(const struct tokens *tokens, const struct digest *digest) {
  const struct token *found = NULL;
  for (size_t i = 0; i < tokens->count; i++)
    if (CRYPTO_memcmp(tokens->items[i].digest.bytes, digest->bytes, sizeof digest->bytes) == 0)
      found = &tokens->items[i];
  return found;
}
