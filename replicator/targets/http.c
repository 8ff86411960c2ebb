#include "targets/http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/text.h"
#include "common/url.h"
#include "targets/tls_options.h"

/* How much of an answer a message quotes. Bytes. */
#define SHOWN_ANSWER 300

const struct target_option TARGET_HTTP_OPTIONS[] = {
    {.name = "timeout",
     .help = "longest time to wait for an answer",
     .number = "a number of seconds",
     .least = 1,
     .most = 3600,
     .initial = "30"},
    {.name = "headers",
     .help = "headers sent with each request",
     .pattern = "^[!-9;-~]+:[^\\r\\n]*([\\r\\n]+[!-9;-~]+:[^\\r\\n]*)*[\\r\\n]*$",
     .words = "one \"Name: value\" per line",
     .secret = true},
    {.name = "http2", .help = "whether to request HTTP/2", .choices = "true|false", .initial = "false"},
    {.name = "follow_redirects",
     .help = "whether to follow redirects (HTTP 3xx) within the same scheme, host and port",
     .choices = "true|false",
     .initial = "false"},
    {.name = "proxy",
     .help = "proxy for all requests",
     .pattern = "^(https?|socks5h?)://([^/?#@:]*(:" TARGET_OPTION_VARIABLE ")?@)?[^/?#@]+/?$",
     .words = "a URL such as http://HOST:PORT; a password is ${NAME}, taken from the environment of rowrelay run",
     .secret = true},
    TARGET_OPTION_END,
};

static bool add_header(struct curl_slist **headers, const char *line, struct error *error) {
  struct curl_slist *grown = curl_slist_append(*headers, line);
  if (grown == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  *headers = grown;
  return true;
}

/* Option headers: one "Name: value" per line, ${NAME} replaced from the environment. */
static bool add_headers(struct http_target *target, const char *lines, struct error *error) {
  struct buffer filled;
  buffer_init(&filled, URL_LIMIT);
  bool ok = text_fill_in(lines, "option headers", &filled, error);
  for (char *line = filled.data; ok && line != NULL && *line != '\0';) {
    size_t length = strcspn(line, "\r\n");
    char end = line[length];
    line[length] = '\0';
    if (length > 0 && strchr(line, ':') == NULL) {
      error_set(error, FAILURE_FATAL, "option headers: a line has no colon");
      ok = error_hint(error, "write one \"Name: value\" per line");
    } else if (length > 0) {
      ok = add_header(&target->headers, line, error);
    }
    line += length + (end != '\0');
  }
  buffer_release(&filled);
  return ok;
}

static bool add_api_key(struct http_target *target, const char *api_key, struct error *error) {
  struct buffer line;
  buffer_init(&line, URL_LIMIT);
  buffer_add_string(&line, "Authorization: ApiKey ");
  bool ok = text_fill_in(api_key, "option api_key", &line, error) && add_header(&target->headers, line.data, error);
  buffer_release(&line);
  return ok;
}

bool http_target_init(struct http_target *target, const struct settings *settings,
                      const struct target_option *const *tables, struct error *error) {
  *target = (struct http_target){.http = NULL};
  if (!target_values_init(&target->values, settings, tables, error))
    return false;
  const struct target_values *values = &target->values;
  /* Some kinds have no option concurrency. */
  int concurrency = (int)target_values_number(values, "concurrency");
  target->concurrency = concurrency > 0 ? concurrency : 1;
  struct http_options options = {
      .ca_file = target_values_text(values, "ca_file"),
      .certificate = target_values_text(values, "certificate"),
      .private_key = target_values_text(values, "private_key"),
      .proxy = target_values_text(values, "proxy"),
      .http2 = target_values_flag(values, "http2"),
      .follow_redirects = target_values_flag(values, "follow_redirects"),
      .never_twice = settings->at_most_once,
      .timeout = 1000 * target_values_number(values, "timeout"),
      .connections = target->concurrency,
  };
  struct buffer proxy;
  buffer_init(&proxy, URL_LIMIT);
  const char *headers = target_values_text(values, "headers");
  const char *api_key = target_values_text(values, "api_key");
  bool ok = options.proxy == NULL || url_fill_in(options.proxy, "option proxy", &proxy, error);
  if (options.proxy != NULL)
    options.proxy = proxy.data;
  ok = ok && tls_options_check(values, error) && (headers == NULL || add_headers(target, headers, error)) &&
       (api_key == NULL || add_api_key(target, api_key, error)) && http_new(&target->http, &options, error);
  buffer_release(&proxy);
  if (!ok)
    http_target_release(target);
  return ok;
}

void http_target_release(struct http_target *target) {
  target_values_release(&target->values);
  http_free(target->http);
  curl_slist_free_all(target->headers);
  *target = (struct http_target){.http = NULL};
}

/* Whether the user has set a header of that name. */
static bool is_set(const struct http_target *target, const char *line) {
  size_t length = strcspn(line, ":");
  for (const struct curl_slist *header = target->headers; header != NULL; header = header->next)
    if (strncasecmp(header->data, line, length) == 0 && header->data[length] == ':')
      return true;
  return false;
}

struct curl_slist *http_target_headers(const struct http_target *target, const char *const *more, size_t count) {
  struct curl_slist *headers = NULL;
  for (size_t i = 0; i < count; i++)
    if (!is_set(target, more[i]) && !add_header(&headers, more[i], NULL))
      goto failed;
  for (const struct curl_slist *header = target->headers; header != NULL; header = header->next)
    if (!add_header(&headers, header->data, NULL))
      goto failed;
  return headers;

failed:
  curl_slist_free_all(headers);
  return NULL;
}

void http_target_unsent(const struct http_request *request, const struct push *push) {
  for (size_t i = 0; request->unsent && i < push->count; i++)
    if (push->verdicts[i].kind == VERDICT_NONE)
      push->verdicts[i].kind = VERDICT_LATER;
}

void http_target_show(const char *said, size_t said_length, char *shown, size_t size) {
  size_t length = 0;
  for (size_t i = 0; i < said_length && length < size - 1;) {
    size_t letter = text_length(said + i, said_length - i);
    if (letter > size - 1 - length)
      break;
    unsigned char byte = (unsigned char)said[i];
    if (letter > 1)
      memcpy(shown + length, said + i, letter);
    else if (letter == 0)
      shown[length] = '?';
    else if (byte < ' ' || byte == 127)
      shown[length] = ' ';
    else
      shown[length] = said[i];
    letter = letter > 0 ? letter : 1;
    length += letter;
    i += letter;
  }
  shown[length] = '\0';
}

bool http_target_quote(const struct http_request *request, struct error *error) {
  char shown[SHOWN_ANSWER];
  http_target_show(request->answer.data, request->answer.length, shown, sizeof shown);
  if (shown[0] != '\0')
    error_detail(error, "%s", shown);
  return false;
}

void http_target_answer(long status, char answer[static VERDICT_ANSWER_SIZE]) {
  static const char *const NAMES[] = {" OK", " Created", " Accepted", " Non-Authoritative Information", " No Content"};
  size_t index = (size_t)(status - 200);
  bool has_name = status >= 200 && index < sizeof NAMES / sizeof NAMES[0];
  snprintf(answer, VERDICT_ANSWER_SIZE, "%ld%s", status, has_name ? NAMES[index] : "");
}

bool http_target_failed(const struct http_request *request, struct error *error) {
  long status = request->status;
  if (status == 0 && request->withheld.kind != FAILURE_NONE) {
    *error = request->withheld;
    return false;
  }
  if (status == 0) {
    error_set(error, request->untrusted ? FAILURE_FATAL : FAILURE_RETRY, "no answer: %s", request->failure);
    if (request->untrusted)
      error_hint(error, "the server's certificate must be valid for the host of the URL, and issued by an authority "
                        "that this machine, "
                        "or the file of option ca_file, trusts");
    return false;
  }
  enum failure kind = FAILURE_REFUSED;
  if (status == 408 || status == 425 || status == 429 || status >= 500)
    kind = FAILURE_RETRY;
  else if (status == 410)
    kind = FAILURE_GONE;
  else if (status < 400)
    kind = FAILURE_FATAL;
  error_set(error, kind, "HTTP %ld", status);
  snprintf(error->sqlstate, sizeof error->sqlstate, "%u", (unsigned)status % 1000U);
  http_target_quote(request, error);
  if (request->elsewhere != NULL) {
    error_detail(error, "The redirect leads to %s, another server, which must not see the request's headers.",
                 request->elsewhere);
    error_hint(error, "if it is yours, set the URL to it");
  } else if (status >= 300 && status < 400) {
    error_hint(error, request->redirects > 0 ? "set the URL to the last redirect's destination"
                                             : "set the URL to the redirect's destination, or set option "
                                               "follow_redirects=true");
  }
  if (request->retry_after > 0)
    error->retry_after = request->retry_after < 86400000 ? (int)request->retry_after : 86400000;
  return false;
}
