/*
 * JSON lines over HTTP: `ndjson+http(s)://…` sends what `file:` would write; `clickhouse+http(s)://host/db.table`
 * inserts rows into a ClickHouse table, each with the members _change_id, _op and _deleted beside its columns; they
 * fill columns of these names, if the table has them (a ReplacingMergeTree by _change_id keeps the last of each key).
 *
 * One request at a time: all of its lines are accepted, or none.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/interrupt.h"
#include "common/url.h"
#include "targets/change_json.h"
#include "targets/http.h"
#include "targets/target.h"
#include "targets/tls_options.h"

#define BODY_LIMIT ((size_t)1200 * 1024 * 1024)
#define ANSWER_LIMIT ((size_t)4096)
/* Bytes of the URL, in which each letter of the statement may be escaped. */
#define ESCAPED_URL_LIMIT (3 * URL_LIMIT)

struct http_lines {
  const struct settings *settings;
  struct buffer url;
  struct buffer body;
  bool clickhouse;
  struct http_target http;
};

static const struct target_option *const OPTIONS[] = {TARGET_HTTP_OPTIONS, TARGET_TLS_OPTIONS, NULL};

static bool lines_wants_details(const struct settings *settings) {
  return strncmp(settings->url, "ndjson", strlen("ndjson")) == 0;
}

static void lines_close(void *handle) {
  struct http_lines *lines = handle;
  if (lines == NULL)
    return;
  http_target_release(&lines->http);
  buffer_release(&lines->url);
  buffer_release(&lines->body);
  free(lines);
}

static void add_escaped(struct buffer *url, const char *text, size_t length) {
  char *escaped = curl_easy_escape(NULL, text, (int)length);
  buffer_add_string(url, escaped != NULL ? escaped : "");
  curl_free(escaped);
}

/* ClickHouse takes the statement as a parameter of the URL. */
static bool make_url(struct http_lines *lines, const char *plain, struct error *error) {
  if (!lines->clickhouse) {
    buffer_add_string(&lines->url, plain);
    return buffer_ok(&lines->url, "a URL", error);
  }
  const char *path = strchr(strstr(plain, "://") + 3, '/');
  if (path == NULL || path[1] == '\0') {
    error_set(error, FAILURE_FATAL, "the target's URL names no table");
    return error_hint(error, "write clickhouse+http://HOST:8123/DATABASE.TABLE");
  }
  buffer_add(&lines->url, plain, (size_t)(path - plain));
  buffer_add_string(&lines->url, "/?input_format_skip_unknown_fields=1&date_time_input_format=best_effort&query=");
  struct buffer statement;
  buffer_init(&statement, URL_LIMIT);
  buffer_add_string(&statement, "INSERT INTO ");
  buffer_add(&statement, path + 1, strcspn(path + 1, "?"));
  buffer_add_string(&statement, " FORMAT JSONEachRow");
  bool ok = buffer_ok(&statement, "a statement", error);
  if (ok)
    add_escaped(&lines->url, statement.data, statement.length);
  buffer_release(&statement);
  return ok && buffer_ok(&lines->url, "a URL", error);
}

static bool lines_open(void **handle, const struct settings *settings, const char *url, struct source *source,
                       struct error *error) {
  (void)source;
  struct http_lines *lines = calloc(1, sizeof *lines);
  if (lines == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  lines->settings = settings;
  lines->clickhouse = strncmp(url, "clickhouse", strlen("clickhouse")) == 0;
  buffer_init(&lines->url, ESCAPED_URL_LIMIT);
  buffer_init(&lines->body, BODY_LIMIT);
  if (!make_url(lines, strchr(url, '+') + 1, error) || !http_target_init(&lines->http, settings, OPTIONS, error)) {
    lines_close(lines);
    return false;
  }
  *handle = lines;
  return true;
}

/* A row's columns and its operation. A document's number grows each time it is read. */
static bool add_row(struct buffer *body, const struct change *change, int64_t token, struct error *error) {
  const char *row = change->operation == OPERATION_DELETE ? change->old_row : change->new_row;
  if (change->operation == OPERATION_TRUNCATE || row == NULL)
    return error_set(error, FAILURE_REFUSED, "change %lld of %s is a truncate, which cannot be inserted",
                     (long long)change->id, change->route->relation);
  size_t start = body->length;
  change_add_image(body, change, row);
  while (body->length > start && !body->overflow && body->data[body->length - 1] != '}')
    body->length--;
  if (body->length > start)
    body->length--; /* the closing brace */
  bool empty = body->length == start + 1;
  buffer_add_format(body, "%s\"_change_id\":%lld,\"_op\":\"%s\",\"_deleted\":%d}", empty ? "" : ",",
                    (long long)(change->route->document ? token : change->id), operation_word(change->operation),
                    change->operation == OPERATION_DELETE);
  return true;
}

/*
 * The error code in ClickHouse's answer ("Code: 27, …"), because its HTTP status is 500 even for many bad values. False
 * when there is none. https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp
 */
static bool read_clickhouse_code(const struct http_request *request, struct error *error) {
  static const long ABOUT_VALUES[] = {6,   26,  27,  38,  41,  53,  69,  70,  72,  117, 130,
                                      131, 321, 349, 376, 407, 467, 469, 675, 676, 691};
  static const long ABOUT_THE_TARGET[] = {
      /* what there is */ 16, 60, 62, 81, /* who may come in */ 192, 193, 194, 195, 497, 516};
  const char *said = request->answer.data != NULL ? strstr(request->answer.data, "Code: ") : NULL;
  long code = said != NULL ? strtol(said + strlen("Code: "), NULL, 10) : 0;
  if (code <= 0)
    return false;
  error->kind = FAILURE_RETRY;
  for (size_t i = 0; i < sizeof ABOUT_VALUES / sizeof ABOUT_VALUES[0]; i++)
    if (ABOUT_VALUES[i] == code)
      error->kind = FAILURE_REFUSED;
  for (size_t i = 0; i < sizeof ABOUT_THE_TARGET / sizeof ABOUT_THE_TARGET[0]; i++)
    if (ABOUT_THE_TARGET[i] == code)
      error->kind = FAILURE_FATAL;
  return true;
}

/* *status is the answer's; push: NULL, a test. */
static bool send_body(struct http_lines *lines, const struct push *push, long *status, struct error *error) {
  const char *more[] = {"Expect:", "Content-Type: application/x-ndjson"};
  struct http_request request = {.method = "POST",
                                 .url = lines->url.data,
                                 .headers = http_target_headers(&lines->http, more, 2),
                                 .body = lines->body.data != NULL ? lines->body.data : "",
                                 .body_length = lines->body.length,
                                 .answer_limit = ANSWER_LIMIT,
                                 .may_send = push != NULL ? push->still_ours : NULL,
                                 .asked = push != NULL ? push->claimer : NULL};
  bool ok = request.headers != NULL || error_set(error, FAILURE_RETRY, "out of memory");
  ok = ok && http_start(lines->http.http, &request, error);
  if (ok && http_wait(lines->http.http, clock_now() + lines->settings->push_timeout) == NULL) {
    http_cancel(lines->http.http, &request);
    ok = interrupted() ? error_set(error, FAILURE_STOP, "told to leave")
                       : error_set(error, FAILURE_RETRY, "no answer within %lld s",
                                   (long long)(lines->settings->push_timeout / 1000));
  } else if (ok && (request.status < 200 || request.status >= 300)) {
    ok = http_target_failed(&request, error);
    /* Errors of access, and missing objects, do not concern the rows. */
    if (!(lines->clickhouse && read_clickhouse_code(&request, error)) && error->kind == FAILURE_REFUSED &&
        request.status <= 405 && request.status != 400)
      error->kind = FAILURE_FATAL;
  }
  if (!ok && push != NULL)
    http_target_unsent(&request, push);
  *status = request.status;
  curl_slist_free_all(request.headers);
  http_request_release(&request);
  return ok;
}

static bool lines_push(void *handle, const struct push *push, struct error *error) {
  struct http_lines *lines = handle;
  buffer_clear(&lines->body);
  bool ok = true;
  for (size_t i = 0; ok && i < push->count; i++) {
    if (lines->clickhouse)
      ok = add_row(&lines->body, push->changes[i], push->token, error);
    else
      change_add_json(&lines->body, push->changes[i], lines->settings->source_id);
    buffer_add(&lines->body, "\n", 1);
  }
  long status;
  ok = ok && buffer_ok(&lines->body, "a request", error) && send_body(lines, push, &status, error);
  char answer[VERDICT_ANSWER_SIZE];
  if (ok)
    http_target_answer(status, answer);
  for (size_t i = 0; ok && i < push->count; i++)
    verdict_answer(&push->verdicts[i], answer);
  return ok;
}

/* An empty request. */
static bool lines_test(void *handle, struct buffer *answer, struct error *error) {
  struct http_lines *lines = handle;
  buffer_clear(&lines->body);
  long status;
  if (!send_body(lines, NULL, &status, error))
    return false;
  buffer_add_string(answer, "it took a request without lines");
  return true;
}

static const struct target_url CLICKHOUSE_URLS[] = {
    {"clickhouse+https", "clickhouse+https://HOST:8443/DATABASE.TABLE", "a table of ClickHouse"},
    {"clickhouse+http", NULL, NULL},
    {NULL, NULL, NULL},
};

static const struct target_url_rule CLICKHOUSE_RULES[] = {
    TARGET_HTTP_RULE_HOST,
    {.pattern = "^[a-z+]+://[^/?#]+/[^/?#]+",
     .problem = "names no table",
     .hint = "Write SCHEME://HOST:8123/DATABASE.TABLE."},
    {.pattern = NULL},
};

static const struct target_url NDJSON_URLS[] = {
    {"ndjson+https", "ndjson+https://HOST/PATH", "JSON lines, posted a batch at a time"},
    {"ndjson+http", NULL, NULL},
    {NULL, NULL, NULL},
};

static const struct target_url_rule NDJSON_RULES[] = {TARGET_HTTP_RULE_HOST, {.pattern = NULL}};

const struct target_kind TARGET_CLICKHOUSE = {.name = "clickhouse",
                                              .urls = CLICKHOUSE_URLS,
                                              .url_rules = CLICKHOUSE_RULES,
                                              .options = OPTIONS,
                                              .overwrites = true,
                                              .wants_details = lines_wants_details,
                                              .opens_alone = true,
                                              .open = lines_open,
                                              .push = lines_push,
                                              .test = lines_test,
                                              .close = lines_close};

const struct target_kind TARGET_NDJSON = {.name = "ndjson",
                                          .urls = NDJSON_URLS,
                                          .url_rules = NDJSON_RULES,
                                          .options = OPTIONS,
                                          .wants_details = lines_wants_details,
                                          .opens_alone = true,
                                          .open = lines_open,
                                          .push = lines_push,
                                          .test = lines_test,
                                          .close = lines_close};
