#include "queue/transactions.h"

#include <stdlib.h>
#include <string.h>

/* A transaction, or as much of one as fits. */
struct piece {
  size_t first; /* of its members in the order by transactions */
  size_t rows;
  int64_t bytes;
  size_t last; /* index of its last change */
};

struct member {
  int64_t txid;
  size_t index;
};

static int by_transaction(const void *a, const void *b) {
  const struct member *left = a;
  const struct member *right = b;
  if (left->txid != right->txid)
    return left->txid < right->txid ? -1 : 1;
  return (left->index > right->index) - (left->index < right->index);
}

static int by_last(const void *a, const void *b) {
  size_t left = ((const struct piece *)a)->last;
  size_t right = ((const struct piece *)b)->last;
  return (left > right) - (left < right);
}

static size_t cut_into_pieces(const struct queued *queued, size_t count, struct transactions_limit most,
                              const struct member *members, struct piece *pieces) {
  size_t piece_count = 0;
  for (size_t i = 0; i < count; i++) {
    struct piece *piece = piece_count > 0 ? &pieces[piece_count - 1] : NULL;
    int64_t bytes = queued[members[i].index].bytes;
    if (piece == NULL || members[i].txid != members[i - 1].txid || piece->rows == most.rows ||
        piece->bytes + bytes > most.bytes) {
      piece = &pieces[piece_count++];
      *piece = (struct piece){.first = i};
    }
    piece->rows++;
    piece->bytes += bytes;
    piece->last = members[i].index;
  }
  return piece_count;
}

bool transactions_choose(const struct queued *queued, size_t count, struct transactions_limit most, bool *chosen,
                         struct error *error) {
  bool ok = false;
  struct member *members = calloc(count + 1, sizeof *members);
  struct piece *pieces = calloc(count + 1, sizeof *pieces);
  if (members == NULL || pieces == NULL) {
    error_set(error, FAILURE_RETRY, "out of memory");
    goto done;
  }
  for (size_t i = 0; i < count; i++)
    members[i] = (struct member){.txid = queued[i].txid, .index = i};
  qsort(members, count, sizeof *members, by_transaction);
  size_t piece_count = cut_into_pieces(queued, count, most, members, pieces);
  qsort(pieces, piece_count, sizeof *pieces, by_last);

  memset(chosen, 0, count * sizeof *chosen);
  size_t rows = 0;
  int64_t bytes = 0;
  for (size_t i = 0; i < piece_count; i++) {
    const struct piece *piece = &pieces[i];
    /* Later transactions may depend on it, so no smaller one takes its place. */
    if (i > 0 && (rows + piece->rows > most.rows || bytes + piece->bytes > most.bytes))
      break;
    rows += piece->rows;
    bytes += piece->bytes;
    for (size_t n = 0; n < piece->rows; n++)
      chosen[members[piece->first + n].index] = true;
  }
  ok = true;

done:
  free(members);
  free(pieces);
  return ok;
}
