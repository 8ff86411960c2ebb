#include "delivery/ties.h"

#include <stdlib.h>

#include "targets/row_order.h"

_Static_assert(TIES_NONE == LATEST_NONE, "chains of rows end as those of row_order do");

struct member {
  int64_t txid;
  size_t index;
};

static int by_transaction(const void *a, const void *b) {
  const struct member *one = a;
  const struct member *other = b;
  if (one->txid != other->txid)
    return one->txid < other->txid ? -1 : 1;
  return (one->index > other->index) - (one->index < other->index);
}

static bool read_transactions(struct ties *ties, struct error *error) {
  size_t count = ties->batch->count;
  struct member *members = calloc(count + 1, sizeof *members);
  ties->transaction = calloc(count + 1, sizeof *ties->transaction);
  ties->others = calloc(count + 1, sizeof *ties->others);
  if (members == NULL || ties->transaction == NULL || ties->others == NULL) {
    free(members);
    return error_set(error, FAILURE_RETRY, "out of memory");
  }
  for (size_t i = 0; i < count; i++) {
    const char *txid = ties->batch->changes[i].txid;
    members[i] = (struct member){.txid = txid != NULL ? strtoll(txid, NULL, 10) : -(int64_t)i - 1, .index = i};
  }
  qsort(members, count, sizeof *members, by_transaction);
  for (size_t i = 0; i < count; i++) {
    bool begins = i == 0 || members[i - 1].txid != members[i].txid;
    bool ends = i + 1 == count || members[i + 1].txid != members[i].txid;
    ties->transaction[members[i].index] = begins ? members[i].index : ties->transaction[members[i - 1].index];
    ties->others[members[i].index] = ends ? TIES_NONE : members[i + 1].index;
  }
  free(members);
  return true;
}

static bool read_rows(struct ties *ties, struct error *error) {
  size_t count = ties->batch->count;
  const struct change **changes = calloc(count + 1, sizeof(struct change *));
  ties->row = calloc(count + 1, sizeof *ties->row);
  ties->later = calloc(count + 1, sizeof *ties->later);
  if (changes == NULL || ties->row == NULL || ties->later == NULL) {
    free(changes);
    return error_set(error, FAILURE_RETRY, "out of memory");
  }
  for (size_t i = 0; i < count; i++) {
    changes[i] = &ties->batch->changes[i];
    ties->row[i] = i;
  }
  bool ok = row_order_chain(changes, count, ties->later, error);
  for (size_t i = 0; ok && i < count; i++)
    if (ties->later[i] != TIES_NONE)
      ties->row[ties->later[i]] = ties->row[i];
  free(changes);
  return ok;
}

bool ties_read(struct ties *ties, const struct batch *batch, bool whole_transactions, struct error *error) {
  *ties = (struct ties){.batch = batch};
  return read_rows(ties, error) && (!whole_transactions || read_transactions(ties, error));
}

void ties_release(struct ties *ties) {
  free(ties->row);
  free(ties->later);
  free(ties->transaction);
  free(ties->others);
  *ties = (struct ties){.batch = NULL};
}

/* What is known of a change while others are followed. */
struct mark {
  bool is_among;  /* those that may be stopped */
  bool is_passed; /* all later changes of its row are stopped */
  bool has_all;   /* of a transaction's first change: all of it is stopped */
};

struct search {
  const struct ties *ties;
  enum standing *standings;
  struct mark *marks;
  size_t *stopped; /* whose ties are still to be followed */
  size_t count;
};

static void stop(struct search *search, size_t index, enum standing standing) {
  if (!search->marks[index].is_among || search->standings[index] != STANDING_GOES)
    return;
  search->standings[index] = standing;
  search->stopped[search->count++] = index;
}

static void follow(struct search *search, size_t index) {
  const struct ties *ties = search->ties;
  enum standing standing = search->standings[index];
  for (size_t i = ties->later[index]; i != TIES_NONE && !search->marks[i].is_passed; i = ties->later[i]) {
    search->marks[i].is_passed = true;
    stop(search, i, standing);
  }
  if (ties->transaction == NULL || !search->marks[index].is_among)
    return;
  size_t first = ties->transaction[index];
  if (search->marks[first].has_all)
    return;
  search->marks[first].has_all = true;
  for (size_t i = first; i != TIES_NONE; i = ties->others[i])
    stop(search, i, standing);
}

bool ties_stop(const struct ties *ties, const size_t *indexes, size_t count, enum standing *standings,
               struct error *error) {
  size_t all = ties->batch->count;
  struct search search = {
      .ties = ties, .marks = calloc(all + 1, sizeof *search.marks), .stopped = calloc(all + 1, sizeof *search.stopped)};
  search.standings = standings;
  bool ok = search.marks != NULL && search.stopped != NULL;
  if (!ok) {
    error_set(error, FAILURE_RETRY, "out of memory");
    goto done;
  }
  for (size_t i = 0; i < count; i++)
    search.marks[indexes[i]].is_among = true;
  for (size_t i = 0; i < all; i++)
    if (standings[i] == STANDING_WAITS || standings[i] == STANDING_GOES_BACK)
      follow(&search, i);
  while (search.count > 0)
    follow(&search, search.stopped[--search.count]);

done:
  free(search.marks);
  free(search.stopped);
  return ok;
}
