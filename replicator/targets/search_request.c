#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "common/clock.h"
#include "common/interrupt.h"
#include "targets/search.h"

/* Of an answer, and of the part of it about an item; of a longer one the items are sent in smaller requests. Bytes. */
#define ANSWER_LIMIT ((size_t)1024 * 1024)
#define ITEM_LIMIT ((size_t)1024)

static bool compress_body(const struct buffer *body, struct buffer *packed, struct error *error) {
  z_stream stream = {.next_in = (unsigned char *)body->data, .avail_in = (uInt)body->length};
  unsigned char piece[16384];
  int status = deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY); /* 16: as gzip */
  if (status != Z_OK)
    return error_set(error, FAILURE_RETRY, "out of memory");
  do {
    stream.next_out = piece;
    stream.avail_out = sizeof piece;
    status = deflate(&stream, Z_FINISH);
    buffer_add(packed, piece, sizeof piece - stream.avail_out);
  } while (status == Z_OK);
  deflateEnd(&stream);
  return (status == Z_STREAM_END || error_set(error, FAILURE_RETRY, "a request cannot be compressed")) &&
         buffer_ok(packed, "a request", error);
}

bool search_ask(struct search *search, const struct search_question *question, struct http_request *request,
                struct error *error) {
  const struct buffer *body = question->body;
  const char *content = question->content != NULL ? question->content : "application/json";
  struct buffer url;
  struct buffer packed;
  struct curl_slist *headers = NULL;
  bool ok = true;
  bool pack = search->gzip && body != NULL;
  char content_line[128];
  snprintf(content_line, sizeof content_line, "Content-Type: %s", content);
  const char *lines[] = {"Expect:", "Accept: application/json", content_line, "Content-Encoding: gzip"};
  buffer_init(&url, SEARCH_NAME_LIMIT);
  buffer_init(&packed, SEARCH_BODY_LIMIT);
  buffer_add_format(&url, "%s%s", search->base, question->path);
  ok = buffer_ok(&url, "a URL", error) && (!pack || compress_body(body, &packed, error));
  if (ok) {
    headers = http_target_headers(&search->http, lines, pack ? 4 : body != NULL ? 3 : 2);
    ok = headers != NULL || error_set(error, FAILURE_RETRY, "out of memory");
  }
  if (ok) {
    const struct buffer *sent = pack ? &packed : body;
    size_t items = question->push != NULL ? question->push->count : 0;
    *request = (struct http_request){.method = question->method,
                                     .url = url.data,
                                     .headers = headers,
                                     .body = sent != NULL ? sent->data : NULL,
                                     .body_length = sent != NULL ? sent->length : 0,
                                     .answer_limit = ANSWER_LIMIT + ITEM_LIMIT * items,
                                     .may_send = question->push != NULL ? question->push->still_ours : NULL,
                                     .asked = question->push != NULL ? question->push->claimer : NULL};
    ok = http_start(search->http.http, request, error);
  }
  if (ok && http_wait(search->http.http, clock_now() + search->settings->push_timeout) == NULL) {
    http_cancel(search->http.http, request);
    ok = interrupted() ? error_set(error, FAILURE_STOP, "told to leave")
                       : error_set(error, FAILURE_RETRY, "no answer within %lld s",
                                   (long long)(search->settings->push_timeout / 1000));
  }
  if (ok && request->status == 0)
    ok = http_target_failed(request, error);
  if (!ok && question->push != NULL)
    http_target_unsent(request, question->push);
  curl_slist_free_all(headers);
  buffer_release(&url);
  buffer_release(&packed);
  return ok;
}

bool search_ask_well(struct search *search, const struct search_question *question, struct http_request *answered,
                     struct error *error) {
  struct http_request request = {.status = 0};
  bool ok = search_ask(search, question, &request, error);
  if (ok && (request.status < 200 || request.status >= 300)) {
    ok = http_target_failed(&request, error);
    if (error->kind == FAILURE_REFUSED) /* nothing of a row was sent */
      error->kind = FAILURE_FATAL;
  }
  if (ok && answered != NULL)
    *answered = request;
  else
    http_request_release(&request);
  return ok;
}
