/* clock: this machine's monotonic time. Times that several processes compare are the source server's, never these. */
#ifndef ROWRELAY_COMMON_CLOCK_H
#define ROWRELAY_COMMON_CLOCK_H

#include <pthread.h>
#include <stdint.h>

/* Milliseconds since some moment before this process began. */
int64_t clock_now(void);
/* The same in microseconds. */
int64_t clock_microseconds(void);

/* Initializes a condition that is timed by this clock, so that setting the system time does not affect waits. */
void clock_init_condition(pthread_cond_t *condition);
/* Like pthread_cond_timedwait(), until clock_now() is `until`; may return earlier. */
void clock_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t until);

/* A signal ends it early. */
void clock_sleep(int64_t milliseconds);

#endif
