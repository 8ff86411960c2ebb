#include "monitor/samples.h"
#include "queries.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct trace {
  struct trace *next;
  struct sample samples[SAMPLE_COUNT]; /* NAN where the target was not there */
  struct sample peaks[PEAK_COUNT];
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
  for (size_t i = 0; i < PEAK_COUNT; i++)
    trace->peaks[i] = NOTHING;
  memcpy(trace->target, target, size);
  trace->next = samples->first;
  samples->first = trace;
  return trace;
}

/* Whichever is known, and the higher of two. */
static float higher(float one, float other) {
  return isnan(one) || other > one ? other : one;
}

static void raise_peak(struct sample *peak, const struct sample *sample) {
  peak->backlog = higher(peak->backlog, sample->backlog);
  peak->lag = higher(peak->lag, sample->lag);
  peak->rate = higher(peak->rate, sample->rate);
}

static size_t place_of_peak(int64_t time) {
  return (size_t)(time / PEAK_INTERVAL) % PEAK_COUNT;
}

/* The place of the five minutes at hand, where nothing is known of others. */
static size_t begin_peak(struct samples *samples, int64_t now) {
  size_t place = place_of_peak(now);
  int64_t begins = now / PEAK_INTERVAL * PEAK_INTERVAL;
  if (samples->peak_times[place] != begins)
    for (struct trace *trace = samples->first; trace != NULL; trace = trace->next)
      trace->peaks[place] = NOTHING;
  samples->peak_times[place] = begins;
  return place;
}

void samples_add(struct samples *samples, const PGresult *targets, int64_t now) {
  pthread_mutex_lock(&samples->lock);
  size_t place = samples->taken % SAMPLE_COUNT;
  size_t peak = begin_peak(samples, now);
  samples->times[place] = now;
  for (struct trace *trace = samples->first; trace != NULL; trace = trace->next)
    trace->samples[place] = NOTHING;
  for (int row = 0; row < PQntuples(targets); row++) {
    struct trace *trace = trace_of(samples, PQgetvalue(targets, row, SAMPLE_TARGET));
    if (trace == NULL)
      continue;
    trace->samples[place] = (struct sample){.backlog = strtof(PQgetvalue(targets, row, SAMPLE_BACKLOG), NULL),
                                            .lag = strtof(PQgetvalue(targets, row, SAMPLE_LAG), NULL),
                                            .rate = strtof(PQgetvalue(targets, row, SAMPLE_RATE), NULL)};
    raise_peak(&trace->peaks[peak], &trace->samples[place]);
  }
  samples->taken++;
  pthread_mutex_unlock(&samples->lock);
}

static float value_of(const struct sample *sample, int column) {
  return column == SAMPLE_BACKLOG ? sample->backlog : column == SAMPLE_LAG ? sample->lag : sample->rate;
}

static size_t first_sample(const struct samples *samples) {
  return samples->taken > SAMPLE_COUNT ? samples->taken - SAMPLE_COUNT : 0;
}

static size_t step_of(const struct samples_json *writer) {
  return writer->detail == SAMPLES_BACKLOG ? SAMPLES_OF_A_MINUTE : 1;
}

/* The highest value of the samples from `from` on that one number stands for; NAN: all are unknown. */
static float highest(const struct samples_json *writer, const struct trace *trace, int column, size_t from) {
  float most = NAN;
  for (size_t i = from; i < from + step_of(writer) && i < writer->samples->taken; i++)
    most = higher(most, value_of(&trace->samples[i % SAMPLE_COUNT], column));
  return most;
}

static void write_value(const struct samples_json *writer, bool is_first, float value) {
  buffer_add_string(writer->json, is_first ? "" : ",");
  if (isnan(value))
    buffer_add_string(writer->json, "null");
  else
    buffer_add_format(writer->json, "%.3f", (double)value);
}

/* When the latest five minutes began; 0: nothing was read yet. */
static int64_t latest_peak(const struct samples *samples) {
  return samples->taken == 0 ? 0 : samples->times[(samples->taken - 1) % SAMPLE_COUNT] / PEAK_INTERVAL * PEAK_INTERVAL;
}

/* From *time on (0: a day ago), the next five minutes of which something is known, and their place; false: none. */
static bool next_peak(const struct samples *samples, int64_t *time, size_t *place) {
  int64_t latest = latest_peak(samples);
  for (*time = *time == 0 ? latest - (int64_t)PEAK_INTERVAL * (PEAK_COUNT - 1) : *time + PEAK_INTERVAL;
       latest != 0 && *time <= latest; *time += PEAK_INTERVAL) {
    *place = place_of_peak(*time);
    if (samples->peak_times[*place] == *time)
      return true;
  }
  return false;
}

/* Oldest first. */
static void write_column(const struct samples_json *writer, const struct trace *trace, const char *name, int column) {
  buffer_add_format(writer->json, "\"%s\":[", name);
  bool is_first = true;
  if (writer->detail == SAMPLES_DAY) {
    size_t place;
    for (int64_t time = 0; next_peak(writer->samples, &time, &place); is_first = false)
      write_value(writer, is_first, value_of(&trace->peaks[place], column));
  } else {
    for (size_t i = first_sample(writer->samples); i < writer->samples->taken; i += step_of(writer), is_first = false)
      write_value(writer, is_first, highest(writer, trace, column, i));
  }
  buffer_add_string(writer->json, "]");
}

static void write_times(const struct samples_json *writer) {
  const struct samples *samples = writer->samples;
  bool is_first = true;
  if (writer->detail == SAMPLES_DAY) {
    size_t place;
    for (int64_t time = 0; next_peak(samples, &time, &place); is_first = false)
      buffer_add_format(writer->json, "%s%" PRId64, is_first ? "" : ",", time);
  } else {
    for (size_t i = first_sample(samples); i < samples->taken; i += step_of(writer), is_first = false)
      buffer_add_format(writer->json, "%s%" PRId64, is_first ? "" : ",", samples->times[i % SAMPLE_COUNT]);
  }
}

void samples_begin(struct samples_json *writer, struct samples *samples, enum samples_detail detail,
                   struct buffer *json) {
  *writer = (struct samples_json){.samples = samples, .json = json, .detail = detail, .is_first = true};
  pthread_mutex_lock(&samples->lock);
  buffer_add_string(json, "{\"at\":[");
  write_times(writer);
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
  if (writer->detail != SAMPLES_BACKLOG) {
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
