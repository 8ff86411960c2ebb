/* The headers of an answer, line by line. */
#include "http/client.c"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct http_request request = {.retry_after = -1, .asked_at = -1, .answer_at = -1};
  buffer_init(&request.answer, 1 << 16);
  for (size_t begin = 0; begin < size;) {
    const uint8_t *end = memchr(data + begin, '\n', size - begin);
    size_t length = end != NULL ? (size_t)(end - data) - begin + 1 : size - begin;
    char *line = malloc(length); /* without a NUL, as libcurl gives it */
    memcpy(line, data + begin, length);
    PROMISE(take_header(line, 1, length, &request) == length, "a header is taken");
    free(line);
    begin += length;
  }
  PROMISE(request.retry_after >= -1, "nobody waits until the past");
  buffer_release(&request.answer);
  return 0;
}
