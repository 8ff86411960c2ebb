#include "verify/tally.h"

#include <stdlib.h>
#include <string.h>

#include "postgres/result.h"

struct tally_entry {
  char *name; /* owned */
  int64_t rows;
  wide sum;
};

void tally_init(struct tally *tally) {
  *tally = (struct tally){.count = 0};
}

void tally_release(struct tally *tally) {
  for (size_t i = 0; i < tally->count; i++)
    free(tally->entries[i].name);
  free(tally->entries);
  tally_init(tally);
}

static wide read_wide(const char *text) {
  bool negative = *text == '-';
  wide value = 0;
  for (const char *c = text + negative; *c >= '0' && *c <= '9'; c++)
    value = 10 * value + (*c - '0');
  return negative ? -value : value;
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const struct tally_entry *)a)->name, ((const struct tally_entry *)b)->name);
}

/* Puts entries of one name together. */
static void merge(struct tally *tally) {
  size_t kept = 0;
  if (tally->count > 1)
    qsort(tally->entries, tally->count, sizeof *tally->entries, by_name);
  for (size_t i = 0; i < tally->count; i++) {
    struct tally_entry *entry = &tally->entries[i];
    if (kept > 0 && strcmp(tally->entries[kept - 1].name, entry->name) == 0) {
      tally->entries[kept - 1].rows += entry->rows;
      tally->entries[kept - 1].sum += entry->sum;
      free(entry->name);
    } else {
      tally->entries[kept++] = *entry;
    }
  }
  tally->count = kept;
}

bool tally_add(struct tally *tally, const PGresult *reply, enum tally_columns columns, struct error *error) {
  size_t more = (size_t)PQntuples(reply);
  struct tally_entry *grown = realloc(tally->entries, (tally->count + more + 1) * sizeof *grown);
  if (grown == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  tally->entries = grown;
  for (int row = 0; row < (int)more; row++) {
    struct tally_entry entry = {.name = strdup(PQgetvalue(reply, row, 0)), .rows = 1};
    if (entry.name == NULL)
      return error_set(error, FAILURE_RETRY, "out of memory");
    if (columns != TALLY_HASH)
      entry.rows = result_bigint(reply, row, 1);
    if (columns != TALLY_COUNT)
      entry.sum = read_wide(PQgetvalue(reply, row, columns == TALLY_HASH ? 1 : 2));
    tally->entries[tally->count++] = entry;
  }
  merge(tally);
  return true;
}

int64_t tally_rows(const struct tally *tally) {
  int64_t rows = 0;
  for (size_t i = 0; i < tally->count; i++)
    rows += tally->entries[i].rows;
  return rows;
}

bool tally_compare(const struct tally *here, const struct tally *there, bool extra, struct keys *names,
                   struct error *error) {
  size_t left = 0;
  size_t right = 0;
  while (left < here->count || right < there->count) {
    const struct tally_entry *one = left < here->count ? &here->entries[left] : NULL;
    const struct tally_entry *other = right < there->count ? &there->entries[right] : NULL;
    int order = one == NULL ? 1 : other == NULL ? -1 : strcmp(one->name, other->name);
    const struct tally_entry *first = order <= 0 ? one : other;
    bool same = one != NULL && other != NULL && order == 0 && one->rows == other->rows && one->sum == other->sum;
    if (!same && first != NULL && (order <= 0 || extra) && !keys_add(names, first->name, error))
      return false;
    left += order <= 0;
    right += order >= 0;
  }
  return true;
}
