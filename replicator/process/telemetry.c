#include "process/telemetry.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/metrics.h"
#include "common/otlp.h"
#include "common/text.h"
#include "http/client.h"
#include "postgres/result.h"
#include "process/patience.h"
#include "queries.h"
#include "source/source.h"

/* Milliseconds */
#define TRACES_INTERVAL 2000
#define USUAL_METRICS_INTERVAL 60000
#define REQUEST_TIMEOUT 5000
#define LAST_TIMEOUT 3000
#define SOURCE_TIMEOUT 3000

#define SPANS_AT_ONCE 512
#define LARGEST_REQUEST ((size_t)16 * 1024 * 1024)
#define URL_SIZE 1024

struct telemetry {
  const char *conninfo;
  struct otlp_resource resource;
  char host[256];
  char instance[280]; /* host and process */
  char metrics_url[URL_SIZE];
  char traces_url[URL_SIZE];
  struct curl_slist *headers;
  struct http *http;
  int64_t metrics_interval;
  int64_t began; /* microseconds since 1970 */
  struct patience patience;
  struct span *spans; /* SPANS_AT_ONCE */
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t leaves;
  bool leaving;
};

/* ---- settings -------------------------------------------------------------------------------------------------- */

static const char *setting(const char *name) {
  const char *value = getenv(name);
  return value != NULL && value[0] != '\0' ? value : NULL;
}

static bool add_header(struct telemetry *telemetry, const char *line, struct error *error) {
  struct curl_slist *grown = curl_slist_append(telemetry->headers, line);
  if (grown == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  telemetry->headers = grown;
  return true;
}

/* NAME=VALUE,…: values are percent-encoded. */
static bool read_headers(struct telemetry *telemetry, const char *text, struct error *error) {
  while (text != NULL && *text != '\0') {
    size_t length = strcspn(text, ",");
    const char *equals = memchr(text, '=', length);
    if (equals == NULL || equals == text)
      return error_set(error, FAILURE_USAGE, "OTEL_EXPORTER_OTLP_HEADERS is not NAME=VALUE,...");
    char line[URL_SIZE];
    int value_length = 0;
    char *value = curl_easy_unescape(NULL, equals + 1, (int)(length - (size_t)(equals + 1 - text)), &value_length);
    text_print(line, sizeof line, "%.*s: %s", (int)(equals - text), text, value != NULL ? value : "");
    curl_free(value);
    if (strpbrk(line, "\r\n") != NULL || !add_header(telemetry, line, error))
      return error_set(error, FAILURE_USAGE, "OTEL_EXPORTER_OTLP_HEADERS is not NAME=VALUE,...");
    text += length + (text[length] == ',');
  }
  return true;
}

static bool read_interval(struct telemetry *telemetry, struct error *error) {
  const char *text = setting("OTEL_METRIC_EXPORT_INTERVAL");
  char *end = NULL;
  telemetry->metrics_interval = text != NULL ? strtoll(text, &end, 10) : USUAL_METRICS_INTERVAL;
  if (text == NULL || (*end == '\0' && telemetry->metrics_interval >= 100 && telemetry->metrics_interval <= 86400000))
    return true;
  error_set(error, FAILURE_USAGE, "OTEL_METRIC_EXPORT_INTERVAL is \"%s\"", text);
  return error_hint(error, "set it to milliseconds, 100 to 86400000");
}

static bool read_endpoint(struct telemetry *telemetry, const char *endpoint, struct error *error) {
  const char *protocol = setting("OTEL_EXPORTER_OTLP_PROTOCOL");
  size_t length = strlen(endpoint);
  while (length > 0 && endpoint[length - 1] == '/')
    length--;
  if ((strncmp(endpoint, "http://", 7) != 0 && strncmp(endpoint, "https://", 8) != 0) || length + 16 > URL_SIZE) {
    error_set(error, FAILURE_USAGE, "OTEL_EXPORTER_OTLP_ENDPOINT is \"%.200s\"", endpoint);
    return error_hint(error, "set it to the collector's address for HTTP, such as http://127.0.0.1:4318");
  }
  if (protocol != NULL && strcmp(protocol, "http/json") != 0) {
    error_set(error, FAILURE_USAGE, "OTEL_EXPORTER_OTLP_PROTOCOL is \"%.200s\"", protocol);
    return error_hint(error, "set it to http/json, and OTEL_EXPORTER_OTLP_ENDPOINT to the collector's port for HTTP");
  }
  text_print(telemetry->metrics_url, URL_SIZE, "%.*s/v1/metrics", (int)length, endpoint);
  text_print(telemetry->traces_url, URL_SIZE, "%.*s/v1/traces", (int)length, endpoint);
  return true;
}

static bool read_settings(struct telemetry *telemetry, const char *endpoint, struct error *error) {
  const char *service = setting("OTEL_SERVICE_NAME");
  telemetry->resource.service = service != NULL ? service : "rowrelay";
  telemetry->resource.host = telemetry->host;
  telemetry->resource.instance = telemetry->instance;
  telemetry->resource.database = "";
  gethostname(telemetry->host, sizeof telemetry->host - 1);
  text_print(telemetry->instance, sizeof telemetry->instance, "%s:%d", telemetry->host, (int)getpid());
  return read_endpoint(telemetry, endpoint, error) && read_interval(telemetry, error) &&
         add_header(telemetry, "Content-Type: application/json", error) &&
         read_headers(telemetry, setting("OTEL_EXPORTER_OTLP_HEADERS"), error);
}

/* ---- sending --------------------------------------------------------------------------------------------------- */

static void report(struct telemetry *telemetry, const struct http_request *request, const char *url) {
  struct error why;
  if (request->status >= 200 && request->status < 300)
    return;
  if (request->status == 0)
    error_set(&why, FAILURE_RETRY, "no answer: %s", request->failure);
  else
    error_set(&why, FAILURE_RETRY, "it answered %ld: %.300s", request->status,
              request->answer.data != NULL ? request->answer.data : "");
  if (patience_is_to_tell(&telemetry->patience, &why, clock_now()))
    log_failure(LOG_LEVEL_WARNING, &why, "telemetry: %s", url);
}

/* False: it did not arrive. */
static bool send_to(struct telemetry *telemetry, const char *url, const struct buffer *body, int64_t timeout) {
  struct error error;
  struct http_request request = {.method = "POST",
                                 .url = url,
                                 .headers = telemetry->headers,
                                 .body = body->data,
                                 .body_length = body->length,
                                 .answer_limit = 1024};
  if (!buffer_ok(body, "what is to be sent to the collector", &error) ||
      !http_start(telemetry->http, &request, &error)) {
    log_failure(LOG_LEVEL_WARNING, &error, "telemetry");
    return false;
  }
  if (http_wait(telemetry->http, clock_now() + timeout) == NULL)
    http_cancel(telemetry->http, &request);
  report(telemetry, &request, url);
  bool arrived = request.status >= 200 && request.status < 300;
  http_request_release(&request);
  return arrived;
}

/* False: some did not arrive, and are lost. */
static bool send_spans(struct telemetry *telemetry, int64_t timeout) {
  struct buffer body;
  bool arrived = true;
  buffer_init(&body, LARGEST_REQUEST);
  size_t count = SPANS_AT_ONCE;
  while (arrived && count == SPANS_AT_ONCE && (count = spans_take(telemetry->spans, SPANS_AT_ONCE)) > 0) {
    buffer_clear(&body);
    otlp_spans(&body, &telemetry->resource, telemetry->spans, count);
    arrived = send_to(telemetry, telemetry->traces_url, &body, timeout);
  }
  buffer_release(&body);
  return arrived;
}

static const struct {
  int column;
  const char *name;
  const char *unit;
  const char *description;
} GAUGES[] = {
    {SAMPLE_BACKLOG, "backlog", "{change}", "Changes that wait for a target, counted up to a million."},
    {SAMPLE_LAG, "oldest_pending", "s", "Age of the oldest change that waits."},
    {SAMPLE_ERRORS, "errors", "{change}", "Changes that a target refused, and nobody has retried or skipped."},
    {SAMPLE_BLOCKED, "blocked", "{change}",
     "Changes that wait behind a refused one, or because the target cannot take their table."},
};

/* What is of the source, and the same from each process. Without it there is nothing of that. */
static void add_gauges(const struct telemetry *telemetry, struct buffer *body, int64_t now) {
  struct error error;
  struct source *source = NULL;
  PGresult *targets = NULL;
  if (source_open_within(&source, telemetry->conninfo, SOURCE_TIMEOUT, &error)) {
    pgconn_set_deadline(source_connection(source), SOURCE_TIMEOUT);
    if (!source_run(source, &QUERY_monitor_targets, NO_VALUES, &targets, &error))
      log_failure(LOG_LEVEL_DEBUG, &error, "telemetry: source");
  }
  int count = targets != NULL ? PQntuples(targets) : 0;
  struct otlp_value *values = count > 0 ? calloc((size_t)count, sizeof *values) : NULL;
  for (size_t i = 0; values != NULL && i < sizeof GAUGES / sizeof *GAUGES; i++) {
    for (int row = 0; row < count; row++)
      values[row] = (struct otlp_value){.target = PQgetvalue(targets, row, SAMPLE_TARGET),
                                        .value = strtod(PQgetvalue(targets, row, GAUGES[i].column), NULL)};
    struct otlp_gauge gauge = {.name = GAUGES[i].name,
                               .unit = GAUGES[i].unit,
                               .description = GAUGES[i].description,
                               .values = values,
                               .count = (size_t)count};
    otlp_metrics_gauge(body, &gauge, now);
  }
  free(values);
  PQclear(targets);
  source_close(source);
}

static void send_metrics(struct telemetry *telemetry, bool with_source, int64_t timeout) {
  struct buffer body;
  int64_t now = span_now();
  buffer_init(&body, LARGEST_REQUEST);
  otlp_metrics_begin(&body, &telemetry->resource, telemetry->began, now);
  if (with_source)
    add_gauges(telemetry, &body, now);
  otlp_metrics_end(&body);
  send_to(telemetry, telemetry->metrics_url, &body, timeout);
  buffer_release(&body);
}

static bool wait_until(struct telemetry *telemetry, int64_t until) {
  pthread_mutex_lock(&telemetry->lock);
  while (!telemetry->leaving && clock_now() < until)
    clock_wait(&telemetry->leaves, &telemetry->lock, until);
  bool leaving = telemetry->leaving;
  pthread_mutex_unlock(&telemetry->lock);
  return !leaving;
}

static void *export(void *context) {
  struct telemetry *telemetry = context;
  int64_t metrics_at = clock_now() + telemetry->metrics_interval;
  int64_t traces_at = clock_now() + TRACES_INTERVAL;
  while (wait_until(telemetry, metrics_at < traces_at ? metrics_at : traces_at)) {
    if (clock_now() >= traces_at) {
      send_spans(telemetry, REQUEST_TIMEOUT);
      traces_at = clock_now() + TRACES_INTERVAL;
    }
    if (clock_now() >= metrics_at) {
      send_metrics(telemetry, true, REQUEST_TIMEOUT);
      metrics_at = clock_now() + telemetry->metrics_interval;
    }
  }
  if (send_spans(telemetry, LAST_TIMEOUT))
    send_metrics(telemetry, false, LAST_TIMEOUT);
  return NULL;
}

/* ---- begin and end --------------------------------------------------------------------------------------------- */

static void release(struct telemetry *telemetry) {
  spans_end();
  http_free(telemetry->http);
  curl_slist_free_all(telemetry->headers);
  pthread_cond_destroy(&telemetry->leaves);
  pthread_mutex_destroy(&telemetry->lock);
  free(telemetry->spans);
  free(telemetry);
}

bool telemetry_start(struct telemetry **telemetry, const char *conninfo, struct error *error) {
  const char *endpoint = setting("OTEL_EXPORTER_OTLP_ENDPOINT");
  struct http_options options = {.timeout = REQUEST_TIMEOUT, .connections = 1};
  *telemetry = NULL;
  if (endpoint == NULL)
    return true;
  struct telemetry *made = calloc(1, sizeof *made);
  if (made == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  made->conninfo = conninfo;
  made->began = span_now();
  pthread_mutex_init(&made->lock, NULL);
  clock_init_condition(&made->leaves);
  made->spans = calloc(SPANS_AT_ONCE, sizeof *made->spans);
  bool ok = read_settings(made, endpoint, error) && http_new(&made->http, &options, error) &&
            ((made->spans != NULL && spans_begin()) || error_set(error, FAILURE_RETRY, "out of memory"));
  if (ok && pthread_create(&made->thread, NULL, export, made) != 0)
    ok = error_set(error, FAILURE_FATAL, "cannot start a thread");
  if (!ok) {
    release(made);
    return false;
  }
  metrics_measure_delays();
  log_message(LOG_LEVEL_INFO, "telemetry goes to %.*s", (int)(strlen(made->metrics_url) - strlen("/v1/metrics")),
              made->metrics_url);
  *telemetry = made;
  return true;
}

void telemetry_stop(struct telemetry *telemetry) {
  if (telemetry == NULL)
    return;
  pthread_mutex_lock(&telemetry->lock);
  telemetry->leaving = true;
  pthread_cond_signal(&telemetry->leaves);
  pthread_mutex_unlock(&telemetry->lock);
  pthread_join(telemetry->thread, NULL);
  release(telemetry);
}
