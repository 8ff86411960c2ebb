/* samples: the state of each target over the last hour, for the charts of the console. */
#ifndef ROWRELAY_MONITOR_SAMPLES_H
#define ROWRELAY_MONITOR_SAMPLES_H

#include <libpq-fe.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/buffer.h"

#define SAMPLE_INTERVAL 10 /* seconds */
#define SAMPLE_COUNT 360
#define SAMPLES_OF_A_MINUTE ((size_t)6)

struct sample {
  double backlog;
  double lag; /* age of the oldest pending change, in seconds */
  double rate;
};

struct samples {
  pthread_mutex_t lock;
  struct trace *first;         /* one for each target */
  int64_t times[SAMPLE_COUNT]; /* seconds since 1970 */
  size_t taken;                /* of which the last SAMPLE_COUNT are kept */
};

void samples_init(struct samples *samples);
void samples_release(struct samples *samples);
/* Adds a result of monitor_targets.sql. */
void samples_add(struct samples *samples, const PGresult *targets);

/*
 * Writes {"at": [SECONDS], "targets": {NAME: {"backlog": [], "lag": [], "rate": []}}}; null where unknown.
 * SAMPLES_BACKLOG: of the backlog alone, and the highest of each minute, for many targets. No sample is added between
 * begin and end.
 */
enum samples_detail { SAMPLES_ALL, SAMPLES_BACKLOG };

struct samples_json {
  struct samples *samples;
  struct buffer *json;
  enum samples_detail detail;
  bool is_first;
};

void samples_begin(struct samples_json *writer, struct samples *samples, enum samples_detail detail,
                   struct buffer *json);
/* Writes nothing of a target that is not known; NULL is one. */
void samples_of(struct samples_json *writer, const char *target);
void samples_end(struct samples_json *writer);

#endif
