#include "queue/transactions.h"

#include <stdlib.h>
#include <string.h>

/* A transaction, or as much of one as fits. */
struct piece {
  size_t first; /* of its members in the order by transactions */
  size_t rows;
  int64_t bytes;
  size_t last; /* index of its last change */
  enum stands stands;
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
    const struct queued *change = &queued[members[i].index];
    int64_t bytes = change->bytes;
    if (piece == NULL || members[i].txid != members[i - 1].txid || piece->rows == most.rows ||
        piece->bytes + bytes > most.bytes || piece->stands != STANDS_WITH_ROWS || change->stands != STANDS_WITH_ROWS) {
      piece = &pieces[piece_count++];
      *piece = (struct piece){.first = i, .stands = change->stands};
    }
    piece->rows++;
    piece->bytes += bytes;
    piece->last = members[i].index;
  }
  return piece_count;
}

/* Changes of a batch, or of part of one, as pieces in the order of their last changes. */
struct pieces {
  struct member *members; /* by transactions */
  struct piece *of;
  size_t count;
};

static void pieces_release(struct pieces *pieces) {
  free(pieces->members);
  free(pieces->of);
}

/* To be released even if it fails. */
static bool pieces_make(struct pieces *pieces, const struct queued *queued, size_t count,
                        struct transactions_limit most, struct error *error) {
  *pieces = (struct pieces){.members = calloc(count + 1, sizeof *pieces->members),
                            .of = calloc(count + 1, sizeof *pieces->of)};
  if (pieces->members == NULL || pieces->of == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  for (size_t i = 0; i < count; i++)
    pieces->members[i] = (struct member){.txid = queued[i].txid, .index = i};
  qsort(pieces->members, count, sizeof *pieces->members, by_transaction);
  pieces->count = cut_into_pieces(queued, count, most, pieces->members, pieces->of);
  qsort(pieces->of, pieces->count, sizeof *pieces->of, by_last);
  return true;
}

static void choose_piece(const struct pieces *pieces, const struct piece *piece, bool *chosen) {
  for (size_t n = 0; n < piece->rows; n++)
    chosen[pieces->members[piece->first + n].index] = true;
}

bool transactions_choose(const struct queued *queued, size_t count, struct transactions_limit most, bool *chosen,
                         struct error *error) {
  struct pieces pieces;
  bool ok = pieces_make(&pieces, queued, count, most, error);
  memset(chosen, 0, count * sizeof *chosen);
  size_t rows = 0;
  int64_t bytes = 0;
  for (size_t i = 0; ok && i < pieces.count; i++) {
    const struct piece *piece = &pieces.of[i];
    /* Later transactions may depend on it, so no smaller one takes its place. */
    if (i > 0 && (rows + piece->rows > most.rows || bytes + piece->bytes > most.bytes ||
                  piece->stands != pieces.of[0].stands || piece->stands == STANDS_ALONE))
      break;
    rows += piece->rows;
    bytes += piece->bytes;
    choose_piece(&pieces, piece, chosen);
  }
  pieces_release(&pieces);
  return ok;
}

bool transactions_halve(const struct queued *queued, size_t count, bool *chosen, struct error *error) {
  static const struct transactions_limit NO_LIMIT = {.rows = SIZE_MAX, .bytes = INT64_MAX};
  struct pieces pieces;
  bool ok = pieces_make(&pieces, queued, count, NO_LIMIT, error);
  memset(chosen, 0, count * sizeof *chosen);
  size_t rows = 0;
  for (size_t i = 0; ok && i + 1 < pieces.count; i++) {
    if (i > 0 && rows + pieces.of[i].rows > count / 2)
      break;
    rows += pieces.of[i].rows;
    choose_piece(&pieces, &pieces.of[i], chosen);
  }
  pieces_release(&pieces);
  return ok;
}
