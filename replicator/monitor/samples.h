/* samples: the state of each target over the last hour, for the charts of the console. */
#ifndef ROWRELAY_MONITOR_SAMPLES_H
#define ROWRELAY_MONITOR_SAMPLES_H

#include <libpq-fe.h>
#include <pthread.h>
#include <stdint.h>

#include "common/buffer.h"

#define SAMPLE_INTERVAL 10 /* seconds */
#define SAMPLE_COUNT 360

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
/* Writes {"at": [SECONDS], "targets": {NAME: {"backlog": [], "lag": [], "rate": []}}}; null where unknown. */
void samples_write(struct samples *samples, struct buffer *json);

#endif
