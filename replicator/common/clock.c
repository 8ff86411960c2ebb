#include "common/clock.h"

#include <time.h>

#include "common/portable.h"

int64_t clock_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t clock_microseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void clock_init_condition(pthread_cond_t *condition) {
  portable_init_condition(condition);
}

void clock_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t until) {
  portable_wait(condition, lock, until);
}

void clock_sleep(int64_t milliseconds) {
  const struct timespec pause = {.tv_sec = (time_t)(milliseconds / 1000),
                                 .tv_nsec = (long)(milliseconds % 1000) * 1000000};
  nanosleep(&pause, NULL);
}
