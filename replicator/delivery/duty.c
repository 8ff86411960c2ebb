#include "delivery/duty.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/text.h"

/* Between two lines of the log that say that a target fails: for another reason, and for the same. Milliseconds. */
#define NEWS_INTERVAL 1000
#define REMINDER_INTERVAL (10 * 60 * 1000)
/* After this time the others do not wait for a batch to end. */
#define LONG_BATCH 50

void duty_init(struct duty *duty, int target, const char *name, int idle_fd) {
  *duty = (struct duty){.target = target, .idle_fd = idle_fd};
  snprintf(duty->name, sizeof duty->name, "%s", name);
  floor_init(&duty->floor);
  pthread_mutex_init(&duty->lock, NULL);
  clock_init_condition(&duty->changed);
}

void duty_release(struct duty *duty) {
  floor_release(&duty->floor);
  pthread_cond_destroy(&duty->changed);
  pthread_mutex_destroy(&duty->lock);
}

/* Waits for a change until the given time; the lock is held. */
static void wait_until(struct duty *duty, int64_t until) {
  clock_wait(&duty->changed, &duty->lock, until);
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

bool duty_enter(struct duty *duty) {
  pthread_mutex_lock(&duty->lock);
  duty->moved_at = clock_now();
  bool stay = !duty->leaving;
  pthread_mutex_unlock(&duty->lock);
  return stay;
}

bool duty_is_failing(struct duty *duty) {
  pthread_mutex_lock(&duty->lock);
  bool failing = duty->failing;
  pthread_mutex_unlock(&duty->lock);
  return failing;
}

bool duty_succeeded(struct duty *duty) {
  pthread_mutex_lock(&duty->lock);
  bool is_news = duty->failing;
  duty->failing = false;
  pthread_mutex_unlock(&duty->lock);
  return is_news;
}

/* Texts that differ in their numbers only, which are milliseconds, ports and processes, say the same. */
static bool say_the_same(const char *a, const char *b) {
  static const char DIGITS[] = "0123456789";
  for (;; a++, b++) {
    a += strspn(a, DIGITS);
    b += strspn(b, DIGITS);
    if (*a != *b)
      return false;
    if (*a == '\0')
      return true;
  }
}

bool duty_failed(struct duty *duty, const char *message) {
  int64_t now = clock_now();
  pthread_mutex_lock(&duty->lock);
  int64_t interval = say_the_same(duty->failure, message) ? REMINDER_INTERVAL : NEWS_INTERVAL;
  bool is_news = !duty->failing || now - duty->logged_at >= interval;
  duty->failing = true;
  if (is_news) {
    duty->logged_at = now;
    text_print(duty->failure, sizeof duty->failure, "%s", message);
  }
  pthread_mutex_unlock(&duty->lock);
  return is_news;
}
