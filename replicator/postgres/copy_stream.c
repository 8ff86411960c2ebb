#include "postgres/copy_stream.h"

#include "common/buffer.h"
#include "common/clock.h"

/* Bytes that go at once; a larger row goes alone. */
#define PIECE ((size_t)64 * 1024)
#define ROW_LIMIT ((size_t)2 * 1024 * 1024 * 1024)
/* Milliseconds. */
#define TELL_INTERVAL 100
/* How many rows between looks at the clock. */
#define ROWS_A_LOOK 64

static bool send_piece(struct copy_stream *stream, struct buffer *piece, struct error *error) {
  if (piece->length == 0)
    return true;
  pgconn_set_deadline(stream->to, stream->timeout);
  stream->failed_there = !pgconn_copy_write(stream->to, piece->data, piece->length, error);
  pgconn_set_deadline(stream->to, 0);
  buffer_clear(piece);
  return !stream->failed_there;
}

/* Takes rows until the piece is full, or has waited for long enough; *ended when there are no more. */
static bool fill_piece(struct copy_stream *stream, struct buffer *piece, int64_t most_rows, bool *ended,
                       struct error *error) {
  int64_t until = clock_now() + TELL_INTERVAL;
  int64_t taken = 0;
  while (piece->length < PIECE && taken < most_rows) {
    char *row;
    int length;
    int64_t left = taken % ROWS_A_LOOK == 0 ? until - clock_now() : TELL_INTERVAL;
    if (!pgconn_copy_read(stream->from, left > 0 ? left : 0, &row, &length, error))
      return false;
    *ended = length < 0;
    if (length <= 0)
      break;
    buffer_add(piece, row, (size_t)length);
    PQfreemem(row);
    taken++;
  }
  stream->rows += taken;
  return buffer_ok(piece, "a row", error);
}

/* How many rows may go now. */
static int64_t allowance(const struct copy_stream *stream, int64_t began_at) {
  if (stream->rate == 0)
    return INT64_MAX;
  return (clock_now() - began_at) * stream->rate / 1000 + 1 - stream->rows;
}

static bool run(struct copy_stream *stream, struct buffer *piece, struct error *error) {
  int64_t began_at = clock_now();
  int64_t told_at = began_at;
  bool ended = false;
  while (!ended) {
    int64_t rows = allowance(stream, began_at);
    if (rows <= 0)
      clock_sleep(1 + (1 - rows) * 1000 / stream->rate < TELL_INTERVAL ? 1 + (1 - rows) * 1000 / stream->rate
                                                                       : TELL_INTERVAL);
    else if (!fill_piece(stream, piece, rows, &ended, error) || !send_piece(stream, piece, error))
      return false;
    int64_t now = clock_now();
    if (now - told_at >= TELL_INTERVAL) {
      told_at = now;
      if (!stream->tell(stream->context, stream->rows, error))
        return false;
    }
  }
  stream->failed_there = !pgconn_copy_end(stream->to, error);
  return !stream->failed_there;
}

bool copy_stream_run(struct copy_stream *stream, struct error *error) {
  struct buffer piece;
  stream->rows = 0;
  stream->failed_there = false;
  if (!pgconn_copy_begin(stream->from, stream->from_statement, error))
    return false;
  if (!pgconn_copy_begin(stream->to, stream->to_statement, error)) {
    stream->failed_there = true;
    return false;
  }
  buffer_init(&piece, ROW_LIMIT);
  bool ok = run(stream, &piece, error);
  buffer_release(&piece);
  return ok;
}
