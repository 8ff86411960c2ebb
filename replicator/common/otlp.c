#include "common/otlp.h"

#include <inttypes.h>

#include "common/metrics.h"
#include "common/version.h"

#define CUMULATIVE 2
#define KIND_INTERNAL 1
#define KIND_PRODUCER 4
#define STATUS_ERROR 2
#define OWN "rowrelay."

static void write_attribute(struct buffer *json, bool is_first, const char *key, const char *value) {
  buffer_add_format(json, "%s{\"key\":\"%s\",\"value\":{\"stringValue\":", is_first ? "" : ",", key);
  buffer_add_json_string(json, value);
  buffer_add_string(json, "}}");
}

static void write_count(struct buffer *json, const char *key, int64_t value) {
  if (value >= 0)
    buffer_add_format(json, ",{\"key\":\"rowrelay.%s\",\"value\":{\"intValue\":\"%" PRId64 "\"}}", key, value);
}

static void write_time(struct buffer *json, const char *name, int64_t microseconds) {
  buffer_add_format(json, "\"%s\":\"%" PRId64 "000\",", name, microseconds);
}

static void write_resource(struct buffer *json, const struct otlp_resource *resource) {
  buffer_add_string(json, "\"resource\":{\"attributes\":[");
  write_attribute(json, true, "service.name", resource->service);
  write_attribute(json, false, "service.version", ROWRELAY_VERSION);
  write_attribute(json, false, "service.instance.id", resource->instance);
  write_attribute(json, false, "host.name", resource->host);
  if (resource->database[0] != '\0')
    write_attribute(json, false, "db.namespace", resource->database);
  buffer_add_string(json, "]}");
}

#define SCOPE "\"scope\":{\"name\":\"rowrelay\",\"version\":\"" ROWRELAY_VERSION "\"}"

/* ---- metrics --------------------------------------------------------------------------------------------------- */

struct period {
  int64_t began;
  int64_t now;
};

static void begin_metric(struct buffer *json, bool is_first, const char *name, const char *unit,
                         const char *description) {
  buffer_add_format(json, "%s{\"name\":\"rowrelay.%s\",\"unit\":\"%s\",\"description\":\"%s\",", is_first ? "" : ",",
                    name, unit, description);
}

static void begin_point(struct buffer *json, bool is_first, const char *target, const char *table) {
  buffer_add_string(json, is_first ? "{\"attributes\":[" : ",{\"attributes\":[");
  write_attribute(json, true, "target", target);
  if (table != NULL)
    write_attribute(json, false, "table", table);
  buffer_add_string(json, "],");
}

static void write_sum_point(struct buffer *json, const struct period *period, uint64_t value) {
  write_time(json, "startTimeUnixNano", period->began);
  write_time(json, "timeUnixNano", period->now);
  buffer_add_format(json, "\"asInt\":\"%" PRIu64 "\"}", value);
}

static uint64_t delivered_of(const struct meter *meter) {
  return atomic_load(&meter->delivered);
}

static uint64_t refused_of(const struct meter *meter) {
  return atomic_load(&meter->refused);
}

static uint64_t failures_of(const struct meter *meter) {
  return atomic_load(&meter->failures);
}

static uint64_t table_delivered_of(const struct table_meter *meter) {
  return atomic_load(&meter->delivered);
}

static uint64_t table_refused_of(const struct table_meter *meter) {
  return atomic_load(&meter->refused);
}

static const struct {
  const char *name;
  const char *unit;
  const char *description;
  uint64_t (*value)(const struct meter *meter);
  uint64_t (*of_table)(const struct table_meter *meter); /* NULL: it is of the target as a whole */
} SUMS[] = {
    {"changes.delivered", "{change}", "Changes that this process has delivered.", delivered_of, NULL},
    {"changes.refused", "{change}", "Changes that the target refused from this process.", refused_of, NULL},
    {"push.failures", "{attempt}", "Attempts that failed for the target's fault, and are made again.", failures_of,
     NULL},
    {"table.changes.delivered", "{change}", "Changes of a table that this process has delivered.", NULL,
     table_delivered_of},
    {"table.changes.refused", "{change}", "Changes of a table that the target refused from this process.", NULL,
     table_refused_of},
};

static void write_sums(struct buffer *json, const struct period *period) {
  for (size_t i = 0; i < sizeof SUMS / sizeof *SUMS; i++) {
    bool is_first = true;
    begin_metric(json, i == 0, SUMS[i].name, SUMS[i].unit, SUMS[i].description);
    buffer_add_format(json, "\"sum\":{\"aggregationTemporality\":%d,\"isMonotonic\":true,\"dataPoints\":[", CUMULATIVE);
    for (const struct meter *meter = metrics_first(); meter != NULL; meter = meter->next) {
      if (SUMS[i].value != NULL) {
        begin_point(json, is_first, meter->target, NULL);
        write_sum_point(json, period, SUMS[i].value(meter));
        is_first = false;
      }
      for (const struct table_meter *table = meter_tables(meter); SUMS[i].of_table != NULL && table != NULL;
           table = table->next, is_first = false) {
        begin_point(json, is_first, meter->target, table->table);
        write_sum_point(json, period, SUMS[i].of_table(table));
      }
    }
    buffer_add_string(json, "]}}");
  }
}

static const struct histogram *batches_of(const struct meter *meter) {
  return &meter->batches;
}

static const struct histogram *pushes_of(const struct meter *meter) {
  return &meter->pushes;
}

static const struct histogram *delays_of(const struct meter *meter) {
  return &meter->delays;
}

static const struct {
  const char *name;
  const char *description;
  const struct histogram *(*of)(const struct meter *meter);
} HISTOGRAMS[] = {
    {"batch.duration", "From when a batch was read to its settlement.", batches_of},
    {"push.duration", "How long a push to the target took.", pushes_of},
    {"delivery.delay", "From the commit of a change to the settlement of its delivery.", delays_of},
};

static void write_histogram(struct buffer *json, const struct histogram *histogram, const struct period *period) {
  uint64_t count = 0;
  uint64_t counts[HISTOGRAM_BOUNDS + 1];
  for (size_t i = 0; i <= HISTOGRAM_BOUNDS; i++)
    count += counts[i] = atomic_load(&histogram->counts[i]);
  write_time(json, "startTimeUnixNano", period->began);
  write_time(json, "timeUnixNano", period->now);
  buffer_add_format(json, "\"count\":\"%" PRIu64 "\",\"sum\":%.6f,\"bucketCounts\":[", count,
                    (double)atomic_load(&histogram->microseconds) / 1000000);
  for (size_t i = 0; i <= HISTOGRAM_BOUNDS; i++)
    buffer_add_format(json, "%s\"%" PRIu64 "\"", i == 0 ? "" : ",", counts[i]);
  buffer_add_string(json, "],\"explicitBounds\":[");
  for (size_t i = 0; i < HISTOGRAM_BOUNDS; i++)
    buffer_add_format(json, "%s%s", i == 0 ? "" : ",", histogram_bound(i));
  buffer_add_string(json, "]}");
}

static void write_histograms(struct buffer *json, const struct period *period) {
  for (size_t i = 0; i < sizeof HISTOGRAMS / sizeof *HISTOGRAMS; i++) {
    begin_metric(json, false, HISTOGRAMS[i].name, "s", HISTOGRAMS[i].description);
    buffer_add_format(json, "\"histogram\":{\"aggregationTemporality\":%d,\"dataPoints\":[", CUMULATIVE);
    for (const struct meter *meter = metrics_first(), *first = meter; meter != NULL; meter = meter->next) {
      begin_point(json, meter == first, meter->target, NULL);
      write_histogram(json, HISTOGRAMS[i].of(meter), period);
    }
    buffer_add_string(json, "]}}");
  }
}

void otlp_metrics_begin(struct buffer *json, const struct otlp_resource *resource, int64_t began, int64_t now) {
  struct period period = {.began = began, .now = now};
  buffer_add_string(json, "{\"resourceMetrics\":[{");
  write_resource(json, resource);
  buffer_add_string(json, ",\"scopeMetrics\":[{" SCOPE ",\"metrics\":[");
  write_sums(json, &period);
  write_histograms(json, &period);
}

void otlp_metrics_gauge(struct buffer *json, const struct otlp_gauge *gauge, int64_t now) {
  begin_metric(json, false, gauge->name, gauge->unit, gauge->description);
  buffer_add_string(json, "\"gauge\":{\"dataPoints\":[");
  for (size_t i = 0; i < gauge->count; i++) {
    begin_point(json, i == 0, gauge->values[i].target, NULL);
    write_time(json, "timeUnixNano", now);
    buffer_add_format(json, "\"asDouble\":%.6f}", gauge->values[i].value);
  }
  buffer_add_string(json, "]}}");
}

void otlp_metrics_end(struct buffer *json) {
  buffer_add_string(json, "]}]}]}");
}

/* ---- spans ----------------------------------------------------------------------------------------------------- */

static void write_id(struct buffer *json, const char *name, const unsigned char *bytes, size_t length,
                     const char *after) {
  buffer_add_format(json, "\"%s\":\"", name);
  for (size_t i = 0; i < length; i++)
    buffer_add_format(json, "%02x", bytes[i]);
  buffer_add_string(json, after);
}

static bool has_parent(const struct span *span) {
  for (size_t i = 0; i < sizeof span->parent; i++)
    if (span->parent[i] != 0)
      return true;
  return false;
}

static void write_links(struct buffer *json, const struct span *span) {
  if (span->link_count == 0)
    return;
  buffer_add_string(json, ",\"links\":[");
  for (size_t i = 0; i < span->link_count; i++) {
    buffer_add_string(json, i == 0 ? "{" : ",{");
    write_id(json, "traceId", span->links[i].trace, sizeof span->links[i].trace, "\",");
    write_id(json, "spanId", span->links[i].span, sizeof span->links[i].span, "\"}");
  }
  buffer_add_format(json, "],\"droppedLinksCount\":%lld", (long long)span->dropped_links);
}

static void write_span(struct buffer *json, const struct span *span) {
  buffer_add_string(json, "{");
  write_id(json, "traceId", span->id.trace, sizeof span->id.trace, "\",");
  write_id(json, "spanId", span->id.span, sizeof span->id.span, "\",");
  if (has_parent(span))
    write_id(json, "parentSpanId", span->parent, sizeof span->parent, "\",");
  buffer_add_format(json, "\"name\":\"%s\",\"kind\":%d,", span->name, has_parent(span) ? KIND_INTERNAL : KIND_PRODUCER);
  write_time(json, "startTimeUnixNano", span->began);
  write_time(json, "endTimeUnixNano", span->ended);
  buffer_add_string(json, "\"attributes\":[");
  write_attribute(json, true, OWN "target", span->target);
  if (span->table[0] != '\0')
    write_attribute(json, false, OWN "table", span->table);
  write_count(json, "changes", span->changes);
  write_count(json, "delivered", span->delivered);
  write_count(json, "refused", span->refused);
  buffer_add_string(json, "]");
  write_links(json, span);
  buffer_add_string(json, ",\"status\":{");
  if (span->error[0] != '\0') {
    buffer_add_format(json, "\"code\":%d,\"message\":", STATUS_ERROR);
    buffer_add_json_string(json, span->error);
  }
  buffer_add_string(json, "}}");
}

void otlp_spans(struct buffer *json, const struct otlp_resource *resource, const struct span *spans, size_t count) {
  buffer_add_string(json, "{\"resourceSpans\":[{");
  write_resource(json, resource);
  buffer_add_string(json, ",\"scopeSpans\":[{" SCOPE ",\"spans\":[");
  for (size_t i = 0; i < count; i++) {
    buffer_add_string(json, i == 0 ? "" : ",");
    write_span(json, &spans[i]);
  }
  buffer_add_string(json, "]}]}]}");
}
