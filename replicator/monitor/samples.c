#include "monitor/samples.h"
#include "queries.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct trace {
  struct trace *next;
  struct sample samples[SAMPLE_COUNT]; /* NAN where the target was not there */
  char target[];
};

void samples_init(struct samples *samples) {
  memset(samples, 0, sizeof *samples);
  pthread_mutex_init(&samples->lock, NULL);
}

void samples_release(struct samples *samples) {
  while (samples->first != NULL) {
    struct trace *next = samples->first->next;
    free(samples->first);
    samples->first = next;
  }
  pthread_mutex_destroy(&samples->lock);
}

static const struct sample NOTHING = {.backlog = NAN, .lag = NAN, .rate = NAN};

/* NULL: out of memory; then there is no chart of it. */
static struct trace *trace_of(struct samples *samples, const char *target) {
  struct trace *trace = samples->first;
  while (trace != NULL && strcmp(trace->target, target) != 0)
    trace = trace->next;
  if (trace != NULL)
    return trace;
  size_t size = strlen(target) + 1;
  trace = malloc(sizeof *trace + size);
  if (trace == NULL)
    return NULL;
  for (size_t i = 0; i < SAMPLE_COUNT; i++)
    trace->samples[i] = NOTHING;
  memcpy(trace->target, target, size);
  trace->next = samples->first;
  samples->first = trace;
  return trace;
}

void samples_add(struct samples *samples, const PGresult *targets) {
  pthread_mutex_lock(&samples->lock);
  size_t place = samples->taken % SAMPLE_COUNT;
  samples->times[place] = (int64_t)time(NULL);
  for (struct trace *trace = samples->first; trace != NULL; trace = trace->next)
    trace->samples[place] = NOTHING;
  for (int row = 0; row < PQntuples(targets); row++) {
    struct trace *trace = trace_of(samples, PQgetvalue(targets, row, SAMPLE_TARGET));
    if (trace != NULL)
      trace->samples[place] = (struct sample){.backlog = strtod(PQgetvalue(targets, row, SAMPLE_BACKLOG), NULL),
                                              .lag = strtod(PQgetvalue(targets, row, SAMPLE_LAG), NULL),
                                              .rate = strtod(PQgetvalue(targets, row, SAMPLE_RATE), NULL)};
  }
  samples->taken++;
  pthread_mutex_unlock(&samples->lock);
}

static double value_of(const struct sample *sample, int column) {
  return column == SAMPLE_BACKLOG ? sample->backlog : column == SAMPLE_LAG ? sample->lag : sample->rate;
}

static size_t first_sample(const struct samples *samples) {
  return samples->taken > SAMPLE_COUNT ? samples->taken - SAMPLE_COUNT : 0;
}

static size_t step_of(const struct samples_json *writer) {
  return writer->detail == SAMPLES_BACKLOG ? SAMPLES_OF_A_MINUTE : 1;
}

/* The highest value of the samples from `from` on that one number stands for; NAN: all are unknown. */
static double highest(const struct samples_json *writer, const struct trace *trace, int column, size_t from) {
  double most = NAN;
  for (size_t i = from; i < from + step_of(writer) && i < writer->samples->taken; i++) {
    double value = value_of(&trace->samples[i % SAMPLE_COUNT], column);
    if (isnan(most) || value > most)
      most = value;
  }
  return most;
}

/* Oldest first. */
static void write_column(const struct samples_json *writer, const struct trace *trace, const char *name, int column) {
  size_t first = first_sample(writer->samples);
  buffer_add_format(writer->json, "\"%s\":[", name);
  for (size_t i = first; i < writer->samples->taken; i += step_of(writer)) {
    double value = highest(writer, trace, column, i);
    buffer_add_string(writer->json, i == first ? "" : ",");
    if (isnan(value))
      buffer_add_string(writer->json, "null");
    else
      buffer_add_format(writer->json, "%.3f", value);
  }
  buffer_add_string(writer->json, "]");
}

void samples_begin(struct samples_json *writer, struct samples *samples, enum samples_detail detail,
                   struct buffer *json) {
  *writer = (struct samples_json){.samples = samples, .json = json, .detail = detail, .is_first = true};
  pthread_mutex_lock(&samples->lock);
  size_t first = first_sample(samples);
  buffer_add_string(json, "{\"at\":[");
  for (size_t i = first; i < samples->taken; i += step_of(writer))
    buffer_add_format(json, "%s%" PRId64, i == first ? "" : ",", samples->times[i % SAMPLE_COUNT]);
  buffer_add_string(json, "],\"targets\":{");
}

void samples_of(struct samples_json *writer, const char *target) {
  const struct trace *trace = target != NULL ? writer->samples->first : NULL;
  while (trace != NULL && strcmp(trace->target, target) != 0)
    trace = trace->next;
  if (trace == NULL)
    return;
  buffer_add_string(writer->json, writer->is_first ? "" : ",");
  writer->is_first = false;
  buffer_add_json_string(writer->json, trace->target);
  buffer_add_string(writer->json, ":{");
  write_column(writer, trace, "backlog", SAMPLE_BACKLOG);
  if (writer->detail == SAMPLES_ALL) {
    buffer_add_string(writer->json, ",");
    write_column(writer, trace, "lag", SAMPLE_LAG);
    buffer_add_string(writer->json, ",");
    write_column(writer, trace, "rate", SAMPLE_RATE);
  }
  buffer_add_string(writer->json, "}");
}

void samples_end(struct samples_json *writer) {
  buffer_add_string(writer->json, "}}");
  pthread_mutex_unlock(&writer->samples->lock);
}
