#include "targets/http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/json_tree.h"
#include "common/text.h"
#include "common/url.h"

/* How much of an answer a message quotes. Bytes. */
#define SHOWN_ANSWER 300

#define A_FILE .pattern = "^/", .words = "the absolute path of a file on the machine of rowrelay run"

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
     .help = "whether to follow redirects (HTTP 3xx)",
     .choices = "true|false",
     .initial = "false"},
    {.name = "ca_file", .help = "certificate authorities to trust instead of this machine's", A_FILE},
    {.name = "certificate", .help = "client certificate", A_FILE},
    {.name = "private_key", .help = "private key of that certificate", A_FILE},
    {.name = "proxy",
     .help = "proxy for all requests",
     .pattern = "^(https?|socks5h?)://([^/?#@:]*(:" TARGET_OPTION_VARIABLE ")?@)?[^/?#@]+/?$",
     .words = "a URL such as http://HOST:PORT; a password is ${NAME}, taken from the environment of rowrelay run",
     .secret = true},
    TARGET_OPTION_END,
};

static const char *initial_of(const struct http_target *target, const char *name) {
  const struct target_option *option = target_option_find(target->tables, name);
  return option != NULL ? option->initial : NULL;
}

const char *http_target_text(const struct http_target *target, const char *name) {
  const json_t *value = json_object_get(target->options, name);
  return json_is_string(value) ? json_string_value(value) : initial_of(target, name);
}

int64_t http_target_number(const struct http_target *target, const char *name) {
  const json_t *value = json_object_get(target->options, name);
  const char *text = http_target_text(target, name);
  if (json_is_integer(value))
    return json_integer_value(value);
  return text != NULL ? strtoll(text, NULL, 10) : 0;
}

bool http_target_flag(const struct http_target *target, const char *name) {
  const json_t *value = json_object_get(target->options, name);
  const char *text = http_target_text(target, name);
  return json_is_boolean(value) ? json_is_true(value) : text != NULL && strcmp(text, "true") == 0;
}

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

static bool check_file(const char *name, const char *path, struct error *error) {
  if (path == NULL || access(path, R_OK) == 0)
    return true;
  error_set(error, FAILURE_FATAL, "option %s: cannot read %s: %s", name, path, strerror(errno));
  return error_hint(error, "the file must be on the machine of rowrelay run, and readable by it");
}

static bool check_files(const struct http_options *options, struct error *error) {
  return check_file("ca_file", options->ca_file, error) && check_file("certificate", options->certificate, error) &&
         check_file("private_key", options->private_key, error);
}

bool http_target_init(struct http_target *target, const struct settings *settings,
                      const struct target_option *const *tables, struct error *error) {
  bool no_memory;
  *target = (struct http_target){
      .options = json_tree_parse(settings->options, strlen(settings->options), 0, &no_memory), .tables = tables};
  if (target->options == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory for the target's options");
  /* Some kinds have no option concurrency. */
  int concurrency = (int)http_target_number(target, "concurrency");
  target->concurrency = concurrency > 0 ? concurrency : 1;
  struct http_options options = {
      .ca_file = http_target_text(target, "ca_file"),
      .certificate = http_target_text(target, "certificate"),
      .private_key = http_target_text(target, "private_key"),
      .proxy = http_target_text(target, "proxy"),
      .http2 = http_target_flag(target, "http2"),
      .follow_redirects = http_target_flag(target, "follow_redirects"),
      .never_twice = settings->at_most_once,
      .timeout = 1000 * http_target_number(target, "timeout"),
      .connections = target->concurrency,
  };
  struct buffer proxy;
  buffer_init(&proxy, URL_LIMIT);
  const char *headers = http_target_text(target, "headers");
  const char *api_key = http_target_text(target, "api_key");
  bool ok = options.proxy == NULL || url_fill_in(options.proxy, "option proxy", &proxy, error);
  if (options.proxy != NULL)
    options.proxy = proxy.data;
  ok = ok && check_files(&options, error) && (headers == NULL || add_headers(target, headers, error)) &&
       (api_key == NULL || add_api_key(target, api_key, error)) && http_new(&target->http, &options, error);
  buffer_release(&proxy);
  if (!ok)
    http_target_release(target);
  return ok;
}

void http_target_release(struct http_target *target) {
  json_decref(target->options);
  http_free(target->http);
  curl_slist_free_all(target->headers);
  *target = (struct http_target){.options = NULL};
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
  if (status >= 300 && status < 400)
    error_hint(error, "set the URL to the redirect's destination, or set option follow_redirects=true");
  if (request->retry_after > 0)
    error->retry_after = request->retry_after < 86400000 ? (int)request->retry_after : 86400000;
  return false;
}
