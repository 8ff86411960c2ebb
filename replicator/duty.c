#include "duty.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

/* Pause after the first failure of a target, and the longest; milliseconds. */
#define FIRST_PAUSE 100
#define LONGEST_PAUSE 30000
#define REPORT_INTERVAL 1000
/* After this time the others do not wait for a batch to end. */
#define LONG_BATCH 50

void duty_init(struct duty *duty, int target, const char *name, int idle_fd) {
  *duty = (struct duty){.target = target, .idle_fd = idle_fd};
  snprintf(duty->name, sizeof duty->name, "%s", name);
  floor_init(&duty->floor);
  pthread_mutex_init(&duty->lock, NULL);
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&duty->changed, &attributes);
  pthread_condattr_destroy(&attributes);
}

void duty_release(struct duty *duty) {
  floor_release(&duty->floor);
  pthread_cond_destroy(&duty->changed);
  pthread_mutex_destroy(&duty->lock);
}

/* Waits for a change until the given time; the lock is held. */
static void wait_until(struct duty *duty, int64_t until) {
  struct timespec limit = {.tv_sec = until / 1000, .tv_nsec = (until % 1000) * 1000000};
  pthread_cond_timedwait(&duty->changed, &duty->lock, &limit);
}

/* The supervisor waits for this, to arm the doorbell. */
static void tell_idle(struct duty *duty) {
  uint64_t one = 1;
  ssize_t ignored = write(duty->idle_fd, &one, sizeof one);
  (void)ignored;
}

void duty_wake(struct duty *duty, int count) {
  pthread_mutex_lock(&duty->lock);
  duty->wakes += count;
  if (duty->wakes > duty->workers)
    duty->wakes = duty->workers;
  pthread_cond_broadcast(&duty->changed);
  pthread_mutex_unlock(&duty->lock);
}

void duty_leave(struct duty *duty) {
  pthread_mutex_lock(&duty->lock);
  duty->leaving = true;
  pthread_cond_broadcast(&duty->changed);
  pthread_mutex_unlock(&duty->lock);
}

void duty_left(struct duty *duty) {
  pthread_mutex_lock(&duty->lock);
  duty->workers--;
  duty->prober = NULL;
  pthread_cond_broadcast(&duty->changed);
  pthread_mutex_unlock(&duty->lock);
}

bool duty_is_deserted(struct duty *duty) {
  pthread_mutex_lock(&duty->lock);
  bool deserted = duty->workers == 0;
  pthread_mutex_unlock(&duty->lock);
  return deserted;
}

bool duty_wait(struct duty *duty, int64_t looked_at, int64_t milliseconds) {
  int64_t until = clock_now() + milliseconds;
  pthread_mutex_lock(&duty->lock);
  if (duty->looked_at < looked_at)
    duty->looked_at = looked_at;
  duty->prober = NULL; /* with nothing to push there is nothing to find out */
  duty->waiting++;
  if (duty->waiting == duty->workers)
    tell_idle(duty);
  while (!duty->leaving && duty->wakes == 0 && clock_now() < until)
    wait_until(duty, until);
  duty->waiting--;
  if (duty->wakes > 0)
    duty->wakes--;
  bool stay = !duty->leaving;
  pthread_mutex_unlock(&duty->lock);
  return stay;
}

bool duty_pause(struct duty *duty, int64_t milliseconds) {
  int64_t until = clock_now() + milliseconds;
  pthread_mutex_lock(&duty->lock);
  while (!duty->leaving && clock_now() < until)
    wait_until(duty, until);
  bool stay = !duty->leaving;
  pthread_mutex_unlock(&duty->lock);
  return stay;
}

bool duty_is_idle(struct duty *duty, int64_t since) {
  pthread_mutex_lock(&duty->lock);
  bool others_are_long = duty->waiting > 0 && clock_now() - duty->moved_at > LONG_BATCH;
  bool idle = duty->workers > 0 && (duty->waiting == duty->workers || others_are_long) && duty->wakes == 0 &&
              duty->looked_at > since;
  pthread_mutex_unlock(&duty->lock);
  return idle;
}

bool duty_enter(struct duty *duty, const void *worker) {
  pthread_mutex_lock(&duty->lock);
  duty->moved_at = clock_now();
  while (!duty->leaving && duty->failures > 0) {
    if (duty->prober == NULL && clock_now() >= duty->retry_at)
      duty->prober = worker;
    if (duty->prober == worker)
      break;
    wait_until(duty, duty->prober != NULL ? clock_now() + 1000 : duty->retry_at);
  }
  bool stay = !duty->leaving;
  pthread_mutex_unlock(&duty->lock);
  return stay;
}

void duty_succeeded(struct duty *duty, bool *was_failing) {
  pthread_mutex_lock(&duty->lock);
  *was_failing = duty->failures > 0;
  if (*was_failing) {
    duty->failures = 0;
    duty->prober = NULL;
    pthread_cond_broadcast(&duty->changed);
  }
  pthread_mutex_unlock(&duty->lock);
}

/* Doubles with each failure; half of it is left to chance, so that processes do not all come at once. */
static int64_t pause_after(int failures) {
  int64_t pause = FIRST_PAUSE;
  for (int i = 1; i < failures && pause < LONGEST_PAUSE; i++)
    pause *= 2;
  if (pause > LONGEST_PAUSE)
    pause = LONGEST_PAUSE;
  return pause / 2 + random() % (pause / 2 + 1);
}

void duty_failed(struct duty *duty, int retry_after, bool *report) {
  int64_t now = clock_now();
  pthread_mutex_lock(&duty->lock);
  /* Several workers may fail at once: that is one failure. */
  if (duty->failures == 0 || duty->prober != NULL) {
    duty->failures++;
    int64_t pause = pause_after(duty->failures);
    duty->retry_at = now + (pause > retry_after ? pause : retry_after);
  }
  duty->prober = NULL;
  *report = duty->reported_at == 0 || now - duty->reported_at >= REPORT_INTERVAL;
  if (*report)
    duty->reported_at = now;
  pthread_cond_broadcast(&duty->changed);
  pthread_mutex_unlock(&duty->lock);
}
