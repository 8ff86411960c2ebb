/*
 * otlp: metrics and spans as the OpenTelemetry protocol has them in JSON (OTLP/HTTP), for one exporter. See
 * https://opentelemetry.io/docs/specs/otlp/. 64-bit integers are strings there, and ids hexadecimal.
 */
#ifndef ROWRELAY_COMMON_OTLP_H
#define ROWRELAY_COMMON_OTLP_H

#include <stdint.h>

#include "common/buffer.h"
#include "common/span.h"

/* Who sends it. Texts are borrowed. */
struct otlp_resource {
  const char *service;
  const char *instance; /* of the service */
  const char *host;
  const char *database; /* "": not known */
};

/* A gauge with a value for each target, which is not of this process. */
struct otlp_value {
  const char *target;
  double value;
};

struct otlp_gauge {
  const char *name;
  const char *unit;
  const char *description;
  const struct otlp_value *values;
  size_t count;
};

/* Names of metrics get a "rowrelay." in front. All metrics of this process, counted from `began` to `now` (microseconds
 * since 1970). */
void otlp_metrics_begin(struct buffer *json, const struct otlp_resource *resource, int64_t began, int64_t now);
void otlp_metrics_gauge(struct buffer *json, const struct otlp_gauge *gauge, int64_t now);
void otlp_metrics_end(struct buffer *json);

void otlp_spans(struct buffer *json, const struct otlp_resource *resource, const struct span *spans, size_t count);

#endif
