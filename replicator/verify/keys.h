/* keys: a list of row keys, as texts, to be queried together. */
#ifndef ROWRELAY_VERIFY_KEYS_H
#define ROWRELAY_VERIFY_KEYS_H

#include <stddef.h>

#include "common/buffer.h"
#include "common/error.h"

struct keys {
  char **texts; /* owned */
  size_t count;
  size_t capacity;
};

void keys_init(struct keys *keys);
void keys_release(struct keys *keys);
/* Empties it, and keeps the memory for the next use. */
void keys_clear(struct keys *keys);

MUST_CHECK bool keys_add(struct keys *keys, const char *text, struct error *error);
/* Keeps the first `count` and those from `begin` on, in their order. */
void keys_drop(struct keys *keys, size_t count, size_t begin);

/*
 * Writes up to `count` of them from `begin` on as a JSON array; `are_json` tells that they are JSON themselves, else
 * they become strings.
 */
void keys_write(const struct keys *keys, size_t begin, size_t count, bool are_json, struct buffer *array);

#endif
