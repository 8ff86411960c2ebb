/* What a process tells a collector of OpenTelemetry: metrics, and a trace of each batch, as OTLP has them in JSON. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "receiver.h"

static struct fixture f;
static struct receiver *collector;

static void begin(const char *name) {
  fixture_begin(&f, name);
  collector = receiver_begin();
  setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver_url(collector, "/"), 1);
  setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=open%20sesame,x-other=1", 1);
  setenv("OTEL_METRIC_EXPORT_INTERVAL", "300", 1);
  setenv("OTEL_SERVICE_NAME", "shop-relay", 1);
  sql(f.at_source, "create table item (id int primary key, name text)");
}

static void end(void) {
  unsetenv("OTEL_EXPORTER_OTLP_ENDPOINT");
  fixture_end(&f);
  receiver_end(collector);
}

/* ---- what the collector got ------------------------------------------------------------------------------------ */

static bool is_of(const struct received *request, const char *path) {
  char line[64];
  snprintf(line, sizeof line, "POST %s HTTP/1.1\r\n", path);
  return strncmp(request->bytes, line, strlen(line)) == 0;
}

static json_t *read_request(const struct received *request) {
  json_error_t why;
  cr_assert_str_eq(received_header(request, "Content-Type"), "application/json");
  cr_assert_str_eq(received_header(request, "x-key"), "open sesame");
  cr_assert_str_eq(received_header(request, "x-other"), "1");
  json_t *tree = json_loadb(request->body, request->body_length, JSON_REJECT_DUPLICATES, &why);
  cr_assert_not_null(tree, "%s in %s", why.text, request->body);
  return tree;
}

/* A list's only item. */
static json_t *only(const json_t *object, const char *name) {
  json_t *list = json_object_get(object, name);
  cr_assert(json_is_array(list) && json_array_size(list) == 1, "%s", name);
  return json_array_get(list, 0);
}

static const char *attribute(const json_t *holder, const char *key) {
  size_t i;
  json_t *one;
  json_array_foreach(json_object_get(holder, "attributes"), i, one) {
    json_t *value = json_object_get(one, "value");
    cr_assert_eq(json_object_size(value), 1);
    if (strcmp(json_string_value(json_object_get(one, "key")), key) == 0)
      return json_object_get(value, "stringValue") != NULL ? json_string_value(json_object_get(value, "stringValue"))
                                                           : json_string_value(json_object_get(value, "intValue"));
  }
  return "";
}

static const char *text(const json_t *object, const char *name) {
  const char *value = json_string_value(json_object_get(object, name));
  return value != NULL ? value : "";
}

/* Times are nanoseconds since 1970, as text. */
static void is_time(const json_t *object, const char *name) {
  const char *value = text(object, name);
  cr_assert(strlen(value) == 19 && strspn(value, "0123456789") == 19, "%s: %s", name, value);
}

static void is_hex(const json_t *object, const char *name, size_t length) {
  const char *value = text(object, name);
  cr_assert(strlen(value) == length && strspn(value, "0123456789abcdef") == length && strspn(value, "0") < length,
            "%s: %s", name, value);
}

static void is_of_shop_relay(const json_t *holder) {
  const json_t *resource = json_object_get(holder, "resource");
  cr_assert_str_eq(attribute(resource, "service.name"), "shop-relay");
  cr_assert_str_neq(attribute(resource, "service.version"), "");
  cr_assert_str_neq(attribute(resource, "service.instance.id"), "");
}

/* ---- metrics --------------------------------------------------------------------------------------------------- */

/* The value of a metric for target w (and table, unless NULL) in a request; -1: there is none. Checks all on its way.
 */
static double value_in(const json_t *tree, const char *name, const char *table) {
  double value = -1;
  size_t i;
  json_t *metric;
  is_of_shop_relay(only(tree, "resourceMetrics"));
  const json_t *scope = only(only(tree, "resourceMetrics"), "scopeMetrics");
  cr_assert_str_eq(text(json_object_get(scope, "scope"), "name"), "rowrelay");
  json_array_foreach(json_object_get(scope, "metrics"), i, metric) {
    const json_t *sum = json_object_get(metric, "sum");
    const json_t *histogram = json_object_get(metric, "histogram");
    const json_t *gauge = json_object_get(metric, "gauge");
    cr_assert_eq((sum != NULL) + (histogram != NULL) + (gauge != NULL), 1, "%s", text(metric, "name"));
    const json_t *data = sum != NULL ? sum : histogram != NULL ? histogram : gauge;
    if (gauge == NULL)
      cr_assert_eq(json_integer_value(json_object_get(data, "aggregationTemporality")), 2);
    if (sum != NULL)
      cr_assert(json_is_true(json_object_get(data, "isMonotonic")));
    size_t k;
    json_t *point;
    json_array_foreach(json_object_get(data, "dataPoints"), k, point) {
      is_time(point, "timeUnixNano");
      if (gauge == NULL)
        is_time(point, "startTimeUnixNano");
      if (histogram != NULL)
        cr_assert_eq(json_array_size(json_object_get(point, "bucketCounts")),
                     json_array_size(json_object_get(point, "explicitBounds")) + 1);
      bool is_it = strcmp(text(metric, "name"), name) == 0 && strcmp(attribute(point, "target"), "w") == 0 &&
                   (table == NULL || strcmp(attribute(point, "table"), table) == 0);
      if (is_it)
        value = gauge != NULL ? json_real_value(json_object_get(point, "asDouble"))
                : sum != NULL ? strtod(text(point, "asInt"), NULL)
                              : strtod(text(point, "count"), NULL);
    }
  }
  return value;
}

/* Waits until the collector has been told this value. */
static void wait_for_metric(const char *name, const char *table, double expected) {
  double last = -1;
  for (double until = give_up_at(10); seconds_now() < until; sleep_seconds(0.1))
    for (int i = receiver_count(collector) - 1; i >= 0; i--)
      if (is_of(receiver_at(collector, i), "/v1/metrics")) {
        json_t *tree = read_request(receiver_at(collector, i));
        last = value_in(tree, name, table);
        json_decref(tree);
        if (last >= expected && last <= expected)
          return;
        break;
      }
  cr_assert_fail("%s is %g, not %g", name, last, expected);
}

/* ---- traces ---------------------------------------------------------------------------------------------------- */

/* A span of that name, of a batch or a part with so many changes; NULL: there is none yet. The caller's to free. */
static json_t *find_span(const char *name, const char *key, const char *value) {
  for (int i = 0; i < receiver_count(collector); i++) {
    if (!is_of(receiver_at(collector, i), "/v1/traces"))
      continue;
    json_t *tree = read_request(receiver_at(collector, i));
    is_of_shop_relay(only(tree, "resourceSpans"));
    size_t k;
    json_t *span;
    json_array_foreach(json_object_get(only(only(tree, "resourceSpans"), "scopeSpans"), "spans"), k, span) {
      is_hex(span, "traceId", 32);
      is_hex(span, "spanId", 16);
      is_time(span, "startTimeUnixNano");
      is_time(span, "endTimeUnixNano");
      cr_assert(strcmp(text(span, "startTimeUnixNano"), text(span, "endTimeUnixNano")) <= 0);
      const char *found = strcmp(key, "parentSpanId") == 0 ? text(span, key) : attribute(span, key);
      if (strcmp(text(span, "name"), name) == 0 && strcmp(found, value) == 0) {
        json_t *copy = json_deep_copy(span);
        json_decref(tree);
        return copy;
      }
    }
    json_decref(tree);
  }
  return NULL;
}

static json_t *wait_for_span(const char *name, const char *key, const char *value) {
  for (double until = give_up_at(10); seconds_now() < until; sleep_seconds(0.1)) {
    json_t *found = find_span(name, key, value);
    if (found != NULL)
      return found;
  }
  cr_assert_fail("there is no span %s with %s %s", name, key, value);
  return NULL;
}

/* What the latest request of metrics has is in the guide's table, and what that names is in it. */
static void is_as_the_guide_says(void) {
  FILE *file = fopen("deploy/README.md", "r");
  static char guide[256 * 1024];
  if (file == NULL)
    return; /* of a program without its sources */
  guide[fread(guide, 1, sizeof guide - 1, file)] = '\0';
  fclose(file);
  int last = receiver_count(collector) - 1;
  while (!is_of(receiver_at(collector, last), "/v1/metrics"))
    last--;
  json_t *tree = read_request(receiver_at(collector, last));
  const json_t *metrics = json_object_get(only(only(tree, "resourceMetrics"), "scopeMetrics"), "metrics");
  size_t i;
  json_t *metric;
  char name[128];
  json_array_foreach(metrics, i, metric) {
    snprintf(name, sizeof name, "| `%s` |", text(metric, "name"));
    cr_expect_not_null(strstr(guide, name), "%s is sent, and not in the guide", name);
  }
  size_t listed = 0;
  for (const char *found = guide; (found = strstr(found, "| `rowrelay.")) != NULL; found++)
    listed++;
  cr_expect_eq(listed, json_array_size(metrics));
  json_decref(tree);
}

Test(telemetry, a_collector_gets_metrics_and_a_trace_of_each_batch) {
  begin("telemetry");
  rowrelay_ok(&f, "target", "add", "w", f.target_url, "--option", "retries=0", NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", "--create", NULL);
  sql(f.at_source, "insert into item select i, 'a' from generate_series(1, 7) i");
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  wait_for_metric("rowrelay.changes.delivered", NULL, 7);
  wait_for_metric("rowrelay.table.changes.delivered", "public.item", 7);
  wait_for_metric("rowrelay.backlog", NULL, 0);
  wait_for_metric("rowrelay.errors", NULL, 0);
  is_as_the_guide_says();
  json_t *batch = wait_for_span("rowrelay batch", "rowrelay.delivered", "7");
  cr_assert_str_eq(attribute(batch, "rowrelay.target"), "w");
  cr_assert_str_eq(attribute(batch, "rowrelay.table"), "public.item");
  cr_assert_str_eq(text(batch, "parentSpanId"), "");
  json_t *push = wait_for_span("rowrelay push", "parentSpanId", text(batch, "spanId"));
  json_t *settlement = wait_for_span("rowrelay settle", "parentSpanId", text(batch, "spanId"));
  cr_assert_str_eq(text(push, "traceId"), text(batch, "traceId"));
  cr_assert_str_eq(text(settlement, "traceId"), text(batch, "traceId"));
  cr_assert_str_eq(attribute(push, "rowrelay.changes"), "7");
  cr_assert_eq(json_object_size(json_object_get(batch, "status")), 0);
  json_decref(batch);
  json_decref(push);
  json_decref(settlement);
  /* What is refused is an error of the push, and counted. */
  sql(f.at_target, "alter table item add constraint no_bad check (name <> 'bad')");
  sql(f.at_source, "insert into item values (8, 'bad')");
  wait_for_metric("rowrelay.changes.refused", NULL, 1);
  wait_for_metric("rowrelay.table.changes.refused", "public.item", 1);
  batch = wait_for_span("rowrelay batch", "rowrelay.refused", "1");
  push = wait_for_span("rowrelay push", "parentSpanId", text(batch, "spanId"));
  cr_assert_not_null(strstr(text(json_object_get(push, "status"), "message"), "no_bad"));
  cr_assert_eq(json_integer_value(json_object_get(json_object_get(push, "status"), "code")), 2);
  json_decref(batch);
  json_decref(push);
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  end();
}

/* Whoever gets the request can go on with the trace. */
Test(telemetry, a_webhook_is_told_the_trace_that_its_request_belongs_to) {
  begin("telemetry_webhook");
  struct receiver *hook = receiver_begin();
  rowrelay_ok(&f, "target", "add", "w", receiver_url(hook, "/hook"), NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source, "insert into item values (1, 'a')");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  receiver_wait(hook, 1, 10);
  char traceparent[64];
  snprintf(traceparent, sizeof traceparent, "%s", received_header(receiver_at(hook, 0), "traceparent"));
  json_t *batch = wait_for_span("rowrelay batch", "rowrelay.delivered", "1");
  char expected[64];
  snprintf(expected, sizeof expected, "00-%s-%s-01", text(batch, "traceId"), text(batch, "spanId"));
  cr_assert_str_eq(traceparent, expected);
  json_decref(batch);
  /* Nobody is told of a trace that nobody collects. */
  unsetenv("OTEL_EXPORTER_OTLP_ENDPOINT");
  sql(f.at_source, "insert into item values (2, 'a')");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  receiver_wait(hook, 2, 10);
  cr_assert_str_eq(received_header(receiver_at(hook, 1), "traceparent"), "");
  receiver_end(hook);
  end();
}

#define OF_A(SPAN) "00-4bf92f3577b34da6a3ce929d0e0e4736-" SPAN "-01"
#define IN_A "begin; set local rowrelay.traceparent = '" OF_A("00f067aa0ba902b7") "'; "
#define IN_B "begin; set local rowrelay.traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00'; "

/* The application's trace goes on in the receiver; where there are several, in that of the batch, which links them. */
Test(telemetry, a_request_belongs_to_the_trace_of_the_application) {
  begin("telemetry_application");
  struct receiver *hook = receiver_begin();
  rowrelay_ok(&f, "target", "add", "w", receiver_url(hook, "/hook"), "--option", "events=10", NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", NULL);
  sql(f.at_source, IN_A "insert into item values (1, 'a'), (2, 'a'); commit");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  const struct received *request = receiver_at(hook, 0);
  cr_assert_str_eq(received_header(request, "traceparent"), OF_A("00f067aa0ba902b7"));
  cr_assert_not_null(strstr(request->body, "\"traceparent\":\"" OF_A("00f067aa0ba902b7") "\""));
  json_t *batch = wait_for_span("rowrelay batch", "rowrelay.delivered", "2");
  cr_assert_str_eq(text(only(batch, "links"), "traceId"), "4bf92f3577b34da6a3ce929d0e0e4736");
  cr_assert_str_eq(text(only(batch, "links"), "spanId"), "00f067aa0ba902b7");
  json_decref(batch);
  sql(f.at_source, IN_A "insert into item values (3, 'a'); commit; " IN_B "insert into item values (4, 'a'); commit;"
                        "insert into item values (5, 'a')");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  batch = wait_for_span("rowrelay batch", "rowrelay.delivered", "3");
  char own[64];
  snprintf(own, sizeof own, "00-%s-%s-01", text(batch, "traceId"), text(batch, "spanId"));
  cr_assert_str_eq(received_header(receiver_at(hook, 1), "traceparent"), own);
  cr_assert_eq(json_array_size(json_object_get(batch, "links")), 2);
  json_decref(batch);
  /* It does so, too, where nobody collects. */
  unsetenv("OTEL_EXPORTER_OTLP_ENDPOINT");
  sql(f.at_source, IN_B "insert into item values (6, 'a'); commit");
  rowrelay_ok(&f, "run", "--until-empty", NULL);
  cr_assert_str_eq(received_header(receiver_at(hook, 2), "traceparent"),
                   "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00");
  receiver_end(hook);
  end();
}

Test(telemetry, a_collector_that_is_away_delays_nothing) {
  begin("telemetry_away");
  setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9", 1);
  rowrelay_ok(&f, "target", "add", "w", f.target_url, NULL);
  rowrelay_ok(&f, "capture", "item", "--to", "w", "--create", NULL);
  pid_t process = fixture_run(&f, "--workers", "1", NULL);
  sql(f.at_source, "insert into item values (1, 'a')");
  wait_until_empty(&f, 10);
  wait_until_says(process, "telemetry: http://127.0.0.1:9/v1/", 10);
  cr_assert_eq(stop_process(process, SIGTERM), 0);
  end();
}

Test(telemetry, a_setting_that_cannot_be_used_is_told_at_the_start) {
  static const struct {
    const char *name;
    const char *value;
    const char *said;
  } CASES[] = {{"OTEL_METRIC_EXPORT_INTERVAL", "1s", "OTEL_METRIC_EXPORT_INTERVAL is \"1s\""},
               {"OTEL_EXPORTER_OTLP_HEADERS", "x", "OTEL_EXPORTER_OTLP_HEADERS is not NAME=VALUE"},
               {"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "OTEL_EXPORTER_OTLP_PROTOCOL is \"grpc\""},
               {"OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4317", "OTEL_EXPORTER_OTLP_ENDPOINT is \"localhost:4317\""}};
  begin("telemetry_wrong");
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    const char *said;
    setenv(CASES[i].name, CASES[i].value, 1);
    cr_expect_eq(rowrelay(&f, NULL, &said, "run", "--until-empty", NULL), 2, "%s", CASES[i].name);
    cr_expect_not_null(strstr(said, CASES[i].said), "%s", said);
    unsetenv(CASES[i].name);
    setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver_url(collector, "/"), 1);
  }
  end();
}
