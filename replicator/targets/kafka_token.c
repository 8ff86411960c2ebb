#include "targets/kafka_token.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/interrupt.h"
#include "common/json_tree.h"
#include "common/url.h"
#include "http/client.h"

/* How long it may take. Milliseconds. */
#define TIMEOUT 10000
#define ANSWER_LIMIT ((size_t)256 * 1024)
/* Where the answer does not say how long a token lasts. Seconds. */
#define LIFETIME 300

static void add_escaped(struct buffer *buffer, const char *text) {
  char *escaped = curl_easy_escape(NULL, text, 0);
  if (escaped == NULL)
    buffer_lack_memory(buffer);
  else
    buffer_add_string(buffer, escaped);
  curl_free(escaped);
}

/* "Authorization: Basic …", as RFC 6749, 2.3.1, has it: id and secret are escaped first. */
static bool make_header(struct buffer *header, const struct target_values *values, struct error *error) {
  struct buffer secret;
  struct buffer pair;
  buffer_init(&secret, URL_LIMIT);
  buffer_init(&pair, URL_LIMIT);
  bool ok = text_fill_in(target_values_text(values, "sasl_password"), "option sasl_password", &secret, error);
  if (ok) {
    add_escaped(&pair, target_values_text(values, "sasl_username"));
    buffer_add_string(&pair, ":");
    add_escaped(&pair, secret.data);
    ok = buffer_ok(&pair, "a header", error);
  }
  char *encoded = ok ? malloc(2 * pair.length + 4) : NULL;
  if (encoded != NULL) {
    EVP_EncodeBlock((unsigned char *)encoded, (const unsigned char *)pair.data, (int)pair.length);
    buffer_add_string(header, "Authorization: Basic ");
    buffer_add_string(header, encoded);
  } else if (ok) {
    buffer_lack_memory(header);
  }
  free(encoded);
  buffer_release(&secret);
  buffer_release(&pair);
  return ok && buffer_ok(header, "a header", error);
}

static bool read_answer(struct kafka_token *token, const struct http_request *request, struct error *error) {
  if (request->status == 0)
    return error_set(error, FAILURE_RETRY, "no answer: %s", request->failure);
  /* Nothing of the answer is shown: it may repeat the secret, or hold a token. */
  if (request->status != 200)
    return error_set(error, FAILURE_FATAL, "HTTP %ld", request->status);
  bool no_memory = false;
  json_t *answer = json_tree_parse(request->answer.data, request->answer.length, 0, &no_memory);
  const char *text = json_string_value(json_object_get(answer, "access_token"));
  const json_t *lifetime = json_object_get(answer, "expires_in");
  token->lifetime = json_is_number(lifetime) ? (int64_t)json_number_value(lifetime) : LIFETIME;
  if (text != NULL)
    buffer_add_string(&token->text, text);
  json_decref(answer);
  return text != NULL ? buffer_ok(&token->text, "a token", error)
                      : error_set(error, FAILURE_RETRY, "its answer has no access_token");
}

static bool ask(struct http *http, struct http_request *request, struct error *error) {
  if (!http_start(http, request, error))
    return false;
  if (http_wait(http, clock_now() + TIMEOUT) != NULL)
    return true;
  http_cancel(http, request);
  return interrupted() ? error_set(error, FAILURE_STOP, "interrupted")
                       : error_set(error, FAILURE_RETRY, "no answer within %d s", TIMEOUT / 1000);
}

bool kafka_token_fetch(struct kafka_token *token, const struct target_values *values, struct error *error) {
  const struct http_options options = {.timeout = TIMEOUT, .connections = 1, .never_twice = true};
  const char *scope = target_values_text(values, "oauth_scope");
  struct http *http = NULL;
  struct buffer header;
  struct buffer body;
  struct curl_slist *headers = NULL;
  buffer_init(&header, URL_LIMIT);
  buffer_init(&body, URL_LIMIT);
  buffer_init(&token->text, ANSWER_LIMIT);
  buffer_add_string(&body, "grant_type=client_credentials");
  if (scope != NULL) {
    buffer_add_string(&body, "&scope=");
    add_escaped(&body, scope);
  }
  bool ok =
      make_header(&header, values, error) && buffer_ok(&body, "a request", error) && http_new(&http, &options, error);
  headers = ok ? curl_slist_append(NULL, header.data) : NULL;
  struct http_request request = {.method = "POST",
                                 .url = target_values_text(values, "oauth_url"),
                                 .headers = headers,
                                 .body = body.data,
                                 .body_length = body.length,
                                 .answer_limit = ANSWER_LIMIT};
  if (ok && headers == NULL)
    ok = error_set(error, FAILURE_RETRY, "out of memory");
  ok = ok && ask(http, &request, error) && read_answer(token, &request, error);
  http_request_release(&request);
  http_free(http);
  curl_slist_free_all(headers);
  buffer_release(&header);
  buffer_release(&body);
  return ok;
}
