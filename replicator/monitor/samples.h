/*
 * samples: the state of each target over the last hour, and the peaks of five minutes over the last day, for the charts
 * of the console.
 */
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
#define PEAK_INTERVAL 300 /* seconds */
#define PEAK_COUNT 288    /* of a day */

struct sample {
  float backlog;
  float lag; /* age of the oldest pending change, in seconds */
  float rate;
};

struct samples {
  pthread_mutex_t lock;
  struct trace *first;         /* one for each target */
  int64_t times[SAMPLE_COUNT]; /* seconds since 1970 */
  size_t taken;                /* of which the last SAMPLE_COUNT are kept */
  /* When the five minutes began whose highest values are at this place of each trace; 0: nothing is known of them.
   * Their place is their number since 1970, so what nobody replaced in time is not of this day. */
  int64_t peak_times[PEAK_COUNT];
};

void samples_init(struct samples *samples);
void samples_release(struct samples *samples);
/* Adds a result of monitor_targets.sql, read at this time (seconds since 1970). */
void samples_add(struct samples *samples, const PGresult *targets, int64_t now);

/*
 * Writes {"at": [SECONDS], "targets": {NAME: {"backlog": [], "lag": [], "rate": []}}}; null where unknown.
 * SAMPLES_BACKLOG: of the backlog alone, and the highest of each minute, for many targets. SAMPLES_DAY: the highest of
 * each five minutes of a day. No sample is added between begin and end.
 */
enum samples_detail { SAMPLES_ALL, SAMPLES_BACKLOG, SAMPLES_DAY };

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
