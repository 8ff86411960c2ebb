/* What the workers of one target share. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <unistd.h>

#include "common/clock.h"
#include "delivery/worker_pool.h"

#define LONG 20000 /* milliseconds that no test waits for */

static struct backlog backlog;
static struct worker_pool pool;
static struct wake idle;

static void begin(void) {
  cr_assert(wake_open(&idle));
  worker_pool_init(&pool, 7, meter_of("hall"), &backlog, &idle);
  pool.workers = 2;
}

static void end(void) {
  worker_pool_release(&pool);
  wake_close(&idle);
}

TestSuite(worker_pool, .init = begin, .fini = end);

/* Whether the last worker has begun to wait since this was asked last. */
static bool was_told_idle(void) {
  return wake_clear(&idle);
}

static void *wait_for_long(void *stays) {
  *(bool *)stays = worker_pool_wait(&pool, 100, LONG);
  return NULL;
}

static pthread_t start_waiting(bool *stays) {
  pthread_t thread;
  cr_assert_eq(pthread_create(&thread, NULL, wait_for_long, stays), 0);
  return thread;
}

static int waiting_now(void) {
  pthread_mutex_lock(&pool.lock);
  int waiting = pool.waiting;
  pthread_mutex_unlock(&pool.lock);
  return waiting;
}

static void until_waiting(int count) {
  while (waiting_now() != count)
    clock_sleep(1);
}

Test(worker_pool, has_the_name_of_its_target) {
  cr_assert_str_eq(pool.name, "hall");
  cr_assert_eq(pool.target, 7);
}

Test(worker_pool, a_wait_ends_with_its_time) {
  cr_assert(worker_pool_wait(&pool, 1, 5));
}

Test(worker_pool, a_wake_up_is_kept_for_who_waits_next_and_not_more_of_them_than_there_are_workers) {
  int64_t began = clock_now();
  worker_pool_wake(&pool, 1);
  worker_pool_wake(&pool, 9);
  cr_assert(worker_pool_wait(&pool, 1, LONG));
  cr_assert(worker_pool_wait(&pool, 1, LONG));
  cr_assert(clock_now() - began < LONG);
  cr_assert_eq(pool.wakes, 0);
}

Test(worker_pool, one_wake_up_is_for_one_worker) {
  bool stay[2] = {false, false};
  pthread_t threads[] = {start_waiting(&stay[0]), start_waiting(&stay[1])};
  until_waiting(2);
  worker_pool_wake(&pool, 1);
  until_waiting(1);
  clock_sleep(20);
  cr_assert_eq(waiting_now(), 1);
  worker_pool_wake(&pool, 1);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  cr_assert(stay[0] && stay[1]);
}

Test(worker_pool, who_is_told_to_leave_waits_no_more) {
  bool stay = true;
  pthread_t thread = start_waiting(&stay);
  until_waiting(1);
  worker_pool_leave(&pool);
  pthread_join(thread, NULL);
  cr_assert_not(stay);
  cr_assert_not(worker_pool_wait(&pool, 1, LONG));
  cr_assert_not(worker_pool_pause(&pool, LONG));
  cr_assert_not(worker_pool_enter(&pool));
}

Test(worker_pool, it_is_idle_when_all_wait_and_have_polled_since) {
  bool stay[2];
  cr_assert_not(worker_pool_is_idle(&pool, 0), "nobody waits");
  pthread_t threads[] = {start_waiting(&stay[0]), start_waiting(&stay[1])};
  until_waiting(2);
  cr_assert(was_told_idle());
  cr_assert(worker_pool_is_idle(&pool, 99));
  cr_assert_not(worker_pool_is_idle(&pool, 100), "the poll began no later");
  worker_pool_leave(&pool);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
}

Test(worker_pool, it_is_idle_while_one_is_long_at_a_batch_but_not_while_it_moves) {
  bool stay;
  cr_assert(worker_pool_enter(&pool));
  pthread_t thread = start_waiting(&stay);
  until_waiting(1);
  cr_assert_not(was_told_idle(), "another works");
  pthread_mutex_lock(&pool.lock);
  pool.moved_at = clock_now();
  pthread_mutex_unlock(&pool.lock);
  cr_assert_not(worker_pool_is_idle(&pool, 0));
  clock_sleep(80);
  cr_assert(worker_pool_is_idle(&pool, 0));
  worker_pool_leave(&pool);
  pthread_join(thread, NULL);
}

Test(worker_pool, it_is_deserted_when_the_last_has_left) {
  worker_pool_left(&pool);
  cr_assert_not(worker_pool_is_deserted(&pool));
  worker_pool_left(&pool);
  cr_assert(worker_pool_is_deserted(&pool));
  cr_assert_not(worker_pool_is_idle(&pool, -1), "nobody looks");
}

Test(worker_pool, a_failure_is_told_once_and_its_end_too) {
  cr_assert_not(worker_pool_is_failing(&pool));
  cr_assert(worker_pool_failed(&pool, "cannot connect to port 5432: timeout after 31 ms"));
  cr_assert(worker_pool_is_failing(&pool));
  cr_assert_not(worker_pool_failed(&pool, "cannot connect to port 5432: timeout after 7 ms"), "only a number differs");
  cr_assert_not(worker_pool_failed(&pool, "no such table"), "within a second");
  pool.logged_at -= 1000;
  cr_assert_not(worker_pool_failed(&pool, "cannot connect to port 1: timeout after 7 ms"), "still the same");
  cr_assert(worker_pool_failed(&pool, "no such table"), "for another reason");
  pool.logged_at -= 10 * 60 * 1000;
  cr_assert(worker_pool_failed(&pool, "no such table"), "once more after ten minutes");
  cr_assert(worker_pool_succeeded(&pool));
  cr_assert_not(worker_pool_succeeded(&pool));
  cr_assert(worker_pool_failed(&pool, "cannot connect"), "it had worked in between");
}

/* As where a disk is full that has room for small batches. */
Test(worker_pool, a_failure_that_comes_and_goes_is_told_once_a_minute) {
  cr_assert(worker_pool_failed(&pool, "cannot write: disk full"));
  cr_assert(worker_pool_succeeded(&pool));
  for (int i = 0; i < 3; i++) {
    cr_assert_not(worker_pool_failed(&pool, "cannot write: disk full"));
    cr_assert_not(worker_pool_succeeded(&pool), "what was not told has no end to be told");
  }
  pool.logged_at -= 60 * 1000;
  cr_assert(worker_pool_failed(&pool, "cannot write: disk full"));
  cr_assert(worker_pool_succeeded(&pool));
  cr_assert(worker_pool_failed(&pool, "no such table"), "for another reason");
}
