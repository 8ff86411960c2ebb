#include "delivery/worker_pool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/text.h"

/* Between two log lines that say that a target fails: for another reason, and for the same. Milliseconds. */
#define NEWS_INTERVAL 1000
#define REMINDER_INTERVAL (10 * 60 * 1000)
/* The same, if it has worked in between, as where a disk is full that has room for small batches. Milliseconds. */
#define RELAPSE_INTERVAL (60 * 1000)
/* After this time other workers no longer count as about to finish. Milliseconds. */
#define LONG_BATCH 50

void worker_pool_init(struct worker_pool *pool, int target, struct meter *meter, struct backlog *backlog,
                      const struct wake *idle) {
  *pool =
      (struct worker_pool){.target = target, .meter = meter, .name = meter->target, .backlog = backlog, .idle = idle};
  floor_init(&pool->floor);
  pthread_mutex_init(&pool->lock, NULL);
  clock_init_condition(&pool->changed);
}

void worker_pool_release(struct worker_pool *pool) {
  floor_release(&pool->floor);
  pthread_cond_destroy(&pool->changed);
  pthread_mutex_destroy(&pool->lock);
}

/* Waits for a change until the given time; the lock is held. */
static void wait_until(struct worker_pool *pool, int64_t until) {
  clock_wait(&pool->changed, &pool->lock, until);
}

/* The supervisor waits for this, to arm the doorbell. */
static void tell_idle(struct worker_pool *pool) {
  wake_up(pool->idle);
}

void worker_pool_wake(struct worker_pool *pool, int count) {
  pthread_mutex_lock(&pool->lock);
  pool->wakes += count;
  if (pool->wakes > pool->workers)
    pool->wakes = pool->workers;
  pthread_cond_broadcast(&pool->changed);
  pthread_mutex_unlock(&pool->lock);
}

void worker_pool_leave(struct worker_pool *pool) {
  pthread_mutex_lock(&pool->lock);
  pool->leaving = true;
  pthread_cond_broadcast(&pool->changed);
  pthread_mutex_unlock(&pool->lock);
}

void worker_pool_left(struct worker_pool *pool) {
  pthread_mutex_lock(&pool->lock);
  pool->workers--;
  pthread_cond_broadcast(&pool->changed);
  pthread_mutex_unlock(&pool->lock);
}

bool worker_pool_is_deserted(struct worker_pool *pool) {
  pthread_mutex_lock(&pool->lock);
  bool deserted = pool->workers == 0;
  pthread_mutex_unlock(&pool->lock);
  return deserted;
}

bool worker_pool_wait(struct worker_pool *pool, int64_t polled_at, int64_t milliseconds) {
  int64_t until = clock_now() + milliseconds;
  pthread_mutex_lock(&pool->lock);
  if (pool->polled_at < polled_at)
    pool->polled_at = polled_at;
  pool->waiting++;
  if (pool->waiting == pool->workers)
    tell_idle(pool);
  while (!pool->leaving && pool->wakes == 0 && clock_now() < until)
    wait_until(pool, until);
  pool->waiting--;
  if (pool->wakes > 0)
    pool->wakes--;
  bool stay = !pool->leaving;
  pthread_mutex_unlock(&pool->lock);
  return stay;
}

bool worker_pool_pause(struct worker_pool *pool, int64_t milliseconds) {
  int64_t until = clock_now() + milliseconds;
  pthread_mutex_lock(&pool->lock);
  while (!pool->leaving && clock_now() < until)
    wait_until(pool, until);
  bool stay = !pool->leaving;
  pthread_mutex_unlock(&pool->lock);
  return stay;
}

bool worker_pool_is_idle(struct worker_pool *pool, int64_t since) {
  pthread_mutex_lock(&pool->lock);
  bool others_are_long = pool->waiting > 0 && clock_now() - pool->moved_at > LONG_BATCH;
  bool idle = pool->workers > 0 && (pool->waiting == pool->workers || others_are_long) && pool->wakes == 0 &&
              pool->polled_at > since;
  pthread_mutex_unlock(&pool->lock);
  return idle;
}

bool worker_pool_enter(struct worker_pool *pool) {
  pthread_mutex_lock(&pool->lock);
  pool->moved_at = clock_now();
  bool stay = !pool->leaving;
  pthread_mutex_unlock(&pool->lock);
  return stay;
}

bool worker_pool_is_failing(struct worker_pool *pool) {
  pthread_mutex_lock(&pool->lock);
  bool failing = pool->failing;
  pthread_mutex_unlock(&pool->lock);
  return failing;
}

bool worker_pool_succeeded(struct worker_pool *pool) {
  pthread_mutex_lock(&pool->lock);
  bool is_news = pool->failing && pool->is_told;
  pool->failing = false;
  pthread_mutex_unlock(&pool->lock);
  return is_news;
}

/* Texts that differ only in numbers (milliseconds, ports, process ids) count as the same. */
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

bool worker_pool_failed(struct worker_pool *pool, const char *message) {
  int64_t now = clock_now();
  pthread_mutex_lock(&pool->lock);
  bool is_same = say_the_same(pool->failure, message);
  int64_t interval = !is_same ? NEWS_INTERVAL : pool->failing && pool->is_told ? REMINDER_INTERVAL : RELAPSE_INTERVAL;
  bool is_news = pool->failure[0] == '\0' || now - pool->logged_at >= interval || (!pool->failing && !is_same);
  if (!pool->failing)
    pool->is_told = false;
  pool->failing = true;
  if (is_news) {
    pool->is_told = true;
    pool->logged_at = now;
    text_print(pool->failure, sizeof pool->failure, "%s", message);
  }
  pthread_mutex_unlock(&pool->lock);
  return is_news;
}
