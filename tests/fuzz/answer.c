/* What search engines and webhooks answer: two bytes for the status, then the body. */
#include "targets/search.c"

#include "fuzz.h"

#define ITEMS 3

static void read_bulk(const struct http_request *request) {
  struct change change = {.id = 1};
  const struct change *changes[ITEMS] = {&change, &change, &change};
  struct verdict verdicts[ITEMS] = {{.kind = VERDICT_NONE}};
  bool are_last[ITEMS] = {true, true, true};
  bool are_only[ITEMS] = {true, false, true};
  size_t items[ITEMS] = {0, 1, 2};
  struct error error;
  struct error of_bulk;
  error_clear(&error);
  error_clear(&of_bulk);
  struct push push = {.changes = changes, .count = ITEMS, .verdicts = verdicts};
  struct bulk bulk = {
      .push = &push, .is_last = are_last, .is_only = are_only, .items = items, .item_count = ITEMS, .error = &of_bulk};
  if (read_answer(&bulk, request, &error) && !bulk.failed && !bulk.refused)
    for (size_t i = 0; i < ITEMS; i++)
      PROMISE(verdicts[i].kind != VERDICT_NONE, "an answer that is understood tells of each item");
  for (size_t i = 0; i < ITEMS; i++)
    free(verdicts[i].why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2)
    return 0;
  struct error error;
  struct http_request request = {.status = 100 + (data[0] << 8 | data[1]) % 500, .retry_after = -1};
  buffer_init(&request.answer, 1 << 20);
  buffer_add(&request.answer, data + 2, size - 2);
  error_clear(&error);
  (void)!http_target_failed(&request, &error);
  for (const char *c = error.detail; *c != '\0';) {
    size_t length = text_length(c, strlen(c));
    PROMISE(length > 0 && (length > 1 || ((unsigned char)*c >= ' ' && *c != 127)),
            "a quoted answer is a line of UTF-8");
    c += length;
  }
  read_bulk(&request);
  http_request_release(&request);
  return 0;
}
