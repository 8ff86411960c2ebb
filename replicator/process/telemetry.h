/*
 * telemetry: sends metrics and traces of a running process to a collector, by OTLP over HTTP in JSON (see otlp.h),
 * where the environment names one, as for any program with OpenTelemetry:
 *
 *   OTEL_EXPORTER_OTLP_ENDPOINT   http://collector:4318, to which /v1/metrics and /v1/traces are added
 *   OTEL_EXPORTER_OTLP_HEADERS    NAME=VALUE,…, percent-encoded
 *   OTEL_EXPORTER_OTLP_PROTOCOL   http/json, which is all that is spoken
 *   OTEL_METRIC_EXPORT_INTERVAL   milliseconds (60000)
 *   OTEL_SERVICE_NAME             rowrelay
 *
 * It has a thread of its own, and a connection to the source for a moment of each interval. A collector that is away
 * delays nothing: what cannot be sent is lost.
 */
#ifndef ROWRELAY_PROCESS_TELEMETRY_H
#define ROWRELAY_PROCESS_TELEMETRY_H

#include "common/error.h"

struct telemetry;

/*
 * *telemetry is NULL where the environment names no collector. `conninfo` of the source is borrowed. A setting that
 * cannot be used is FAILURE_USAGE. Before workers start, because it decides whether there are spans.
 */
MUST_CHECK bool telemetry_start(struct telemetry **telemetry, const char *conninfo, struct error *error);
/* Sends what there is, for some seconds at most, and ends. NULL is allowed. */
void telemetry_stop(struct telemetry *telemetry);

#endif
