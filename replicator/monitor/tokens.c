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

/* A line without its end; a grant is what is left of it, blanks within included. */
static bool read_line(const char *line, const struct tokens_form *form, struct token *token) {
  size_t name = strcspn(line, BLANKS);
  const char *hash = line + name + strspn(line + name, BLANKS);
  size_t digits = strcspn(hash, BLANKS);
  const char *grant = hash + digits + strspn(hash + digits, BLANKS);
  size_t length = strlen(grant);
  while (length > 0 && strchr(BLANKS, grant[length - 1]) != NULL)
    length--;
  token->has_digest = !(form->allows_no_token && digits == 1 && hash[0] == '-');
  return copy_name(token->name, line, name) && (!token->has_digest || read_digest(hash, digits, &token->digest)) &&
         copy_name(token->grant, grant, length);
}

static bool refuse_line(const char *path, size_t number, const struct tokens_form *form, struct error *error) {
  error_set(error, FAILURE_USAGE, "file %s, line %zu: this is not \"%s\"", path, number, form->line);
  return error_hint(error, "the hash of a token: printf %%s \"$TOKEN\" | sha256sum");
}

static bool refuse_grant(const char *path, size_t number, struct error *error) {
  struct error why = *error;
  error_set(error, why.kind, "file %s, line %zu: %s", path, number, why.message);
  return error_hint(error, "%s", why.hint);
}

static bool read_lines(struct tokens *tokens, const struct tokens_form *form, char *text, const char *path,
                       struct error *error) {
  size_t number = 0;
  for (char *line = text; line != NULL; number++) {
    char *next = strchr(line, '\n');
    if (next != NULL)
      *next++ = '\0';
    const char *begin = line + strspn(line, BLANKS);
    line = next;
    if (*begin == '\0' || *begin == '#')
      continue;
    struct token *token = &tokens->items[tokens->count];
    if (!read_line(begin, form, token))
      return refuse_line(path, number + 1, form, error);
    if (form->check != NULL && !form->check(token->grant, error))
      return refuse_grant(path, number + 1, error);
    tokens->count++;
  }
  return true;
}

bool tokens_read(struct tokens *tokens, const struct tokens_form *form, const char *path, struct error *error) {
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
    ok = tokens->items != NULL ? read_lines(tokens, form, text.data, path, error)
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
    if (CRYPTO_memcmp(tokens->items[i].digest.bytes, digest->bytes, sizeof digest->bytes) == 0 &&
        tokens->items[i].has_digest)
      found = &tokens->items[i];
  return found;
}

const struct token *tokens_without_hash(const struct tokens *tokens, const char *name) {
  for (size_t i = 0; i < tokens->count; i++)
    if (!tokens->items[i].has_digest && strcmp(tokens->items[i].name, name) == 0)
      return &tokens->items[i];
  return NULL;
}
