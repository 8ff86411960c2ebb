#include "targets/row_order.h"

#include <stdint.h>
#include <stdlib.h>

/* FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/ */
static uint64_t hash_row(const struct change *change) {
  uint64_t hash = UINT64_C(14695981039346656037) ^ (uint64_t)change->capture;
  if (change->has_hash && change->key != NULL)
    return hash * UINT64_C(31) + (uint64_t)change->hash;
  for (const char *c = change->key; c != NULL && *c != '\0'; c++)
    hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
  return hash ^ (hash >> 32);
}

bool row_order_chain(const struct change *const *changes, size_t count, size_t *next, struct error *error) {
  size_t slots = 16;
  while (slots < count * 2)
    slots *= 2;
  /* Open addressing; a slot holds the index of a row's last change so far, plus one. */
  size_t *table = calloc(slots, sizeof *table);
  if (table == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  for (size_t i = 0; i < count; i++) {
    next[i] = LATEST_NONE;
    size_t slot = hash_row(changes[i]) & (slots - 1);
    while (table[slot] != 0 && !change_same_row(changes[table[slot] - 1], changes[i]))
      slot = (slot + 1) & (slots - 1);
    if (table[slot] != 0)
      next[table[slot] - 1] = i;
    table[slot] = i + 1;
  }
  free(table);
  return true;
}

bool row_order_mark(const struct change *const *changes, size_t count, bool *is_last, struct error *error) {
  size_t *next = calloc(count + 1, sizeof *next);
  if (next == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  bool ok = row_order_chain(changes, count, next, error);
  for (size_t i = 0; ok && i < count; i++)
    is_last[i] = next[i] == LATEST_NONE;
  free(next);
  return ok;
}

void row_order_let_wait(const size_t *next, size_t index, bool *waits) {
  for (; next[index] != LATEST_NONE; index = next[index])
    waits[next[index]] = true;
}
