#include "delivery/refusal_log.h"

#include <pthread.h>
#include <stdio.h>

#include "common/clock.h"
#include "common/error_kind.h"
#include "common/log.h"
#include "common/text.h"

#define SILENCE 60000           /* milliseconds between two messages of a group */
#define KNOWN ((size_t)256)     /* groups; of more, the one that was told first is forgotten */
#define OF_A_BATCH ((size_t)32) /* groups that are told of; the others come with a later batch, or are known to few */

struct group {
  uint64_t hash;
  int64_t told_at; /* clock_now() */
  size_t untold;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct group groups[KNOWN];
static size_t group_count = 0;

/* That of a group, or the place for it. */
static struct group *find(uint64_t hash) {
  struct group *oldest = &groups[0];
  for (size_t i = 0; i < group_count; i++) {
    if (groups[i].hash == hash)
      return &groups[i];
    if (groups[i].told_at < oldest->told_at)
      oldest = &groups[i];
  }
  return group_count < KNOWN ? &groups[group_count++] : oldest;
}

bool refusal_log_is_to_tell(uint64_t hash, size_t count, int64_t now, size_t *untold) {
  pthread_mutex_lock(&lock);
  struct group *group = find(hash);
  bool is_new = group->hash != hash;
  bool tells = is_new || now - group->told_at >= SILENCE;
  *untold = is_new ? 0 : group->untold;
  if (tells)
    *group = (struct group){.hash = hash, .told_at = now};
  else
    group->untold += count;
  pthread_mutex_unlock(&lock);
  return tells;
}

static const char *table_of(const struct outcomes *outcomes, size_t index) {
  const struct route *route = outcomes->batch->changes[index].route;
  return route != NULL ? route->relation : "";
}

/* Never 0, which stands for no group. */
static uint64_t hash_of(const char *target, const struct outcomes *outcomes, size_t index) {
  const struct error *why = outcomes->fates[index].why;
  char kind[ERROR_KIND_SIZE];
  error_kind(why, kind, sizeof kind);
  uint64_t hash = text_hash(TEXT_HASH_BEGIN, target);
  hash = text_hash(hash, table_of(outcomes, index));
  hash = text_hash(hash, why->sqlstate);
  hash = text_hash(hash, kind);
  return hash != 0 ? hash : 1;
}

/* Those of a batch that are of one group. */
struct some {
  uint64_t hash;
  size_t first;
  size_t count;
};

static void tell(const char *target, const struct outcomes *outcomes, const struct some *some) {
  size_t untold;
  char more[64] = "";
  if (!refusal_log_is_to_tell(some->hash, some->count, clock_now(), &untold))
    return;
  const char *table = table_of(outcomes, some->first);
  const struct error *why = outcomes->fates[some->first].why;
  long long first = (long long)outcomes->batch->changes[some->first].id;
  if (untold > 0)
    snprintf(more, sizeof more, " and %zu since the last message", untold);
  log_about(target, table);
  if (some->count == 1 && untold == 0)
    log_failure(LOG_LEVEL_WARNING, why, "target %s: refused change %lld of %s", target, first, table);
  else
    log_failure(LOG_LEVEL_WARNING, why, "target %s: refused %zu change%s of %s, first %lld%s", target, some->count,
                some->count == 1 ? "" : "s", table, first, more);
  log_about(target, NULL);
}

void refusal_log(const char *target, const struct outcomes *outcomes) {
  struct some all[OF_A_BATCH];
  size_t count = 0;
  for (size_t i = 0; i < outcomes->batch->count; i++) {
    if (outcomes->fates[i].outcome != OUTCOME_REFUSED || outcomes->fates[i].why == NULL)
      continue;
    uint64_t hash = hash_of(target, outcomes, i);
    size_t k = 0;
    while (k < count && all[k].hash != hash)
      k++;
    if (k == OF_A_BATCH)
      continue;
    if (k == count)
      all[count++] = (struct some){.hash = hash, .first = i};
    all[k].count++;
  }
  for (size_t k = 0; k < count; k++)
    tell(target, outcomes, &all[k]);
}
