/* Pieces that many listeners are sent. */
#include <criterion/criterion.h>

#include "http/exchange.h"

static struct error error;
static struct buffer text;

Test(exchange, a_piece_takes_the_text) {
  buffer_init(&text, 10);
  buffer_add_string(&text, "text");
  struct piece *piece = piece_new(&text, &error);
  cr_assert_not_null(piece);
  cr_assert_null(text.data);
  piece_release(piece);
}

Test(exchange, a_text_that_lacked_memory_is_no_text_that_is_too_large) {
  buffer_init(&text, 10);
  buffer_add_string(&text, "text");
  buffer_lack_memory(&text);
  cr_assert_null(piece_new(&text, &error));
  cr_assert_eq(error.kind, FAILURE_RETRY, "%s", error.message);
  buffer_init(&text, 10);
  buffer_add_string(&text, "more than ten bytes");
  cr_assert_null(piece_new(&text, &error));
  cr_assert_neq(error.kind, FAILURE_RETRY, "%s", error.message);
}
