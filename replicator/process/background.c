#include "process/background.h"

#include <string.h>

#include "common/clock.h"
#include "common/interrupt.h"
#include "common/log.h"

void background_init(struct background *task, const char *name, const char *conninfo, background_work *work,
                     void *context) {
  *task = (struct background){.name = name, .conninfo = conninfo, .work = work, .context = context};
  pthread_mutex_init(&task->lock, NULL);
  clock_init_condition(&task->changed);
}

bool background_is_leaving(struct background *task) {
  pthread_mutex_lock(&task->lock);
  bool leaving = task->leaving;
  pthread_mutex_unlock(&task->lock);
  return leaving;
}

bool background_is_busy(struct background *task) {
  pthread_mutex_lock(&task->lock);
  bool busy = task->busy || task->wanted;
  pthread_mutex_unlock(&task->lock);
  return busy;
}

static bool is_leaving(void *context) {
  return background_is_leaving(context);
}

void background_rest(struct background *task, int64_t milliseconds) {
  int64_t until = clock_now() + milliseconds;
  pthread_mutex_lock(&task->lock);
  while (!task->leaving && clock_now() < until)
    clock_wait(&task->changed, &task->lock, until);
  pthread_mutex_unlock(&task->lock);
}

void background_tell_failure(struct background *task, const struct error *error, const char *what) {
  if (error->kind != FAILURE_STOP && patience_is_to_tell(&task->patience, error, clock_now()))
    log_failure(LOG_LEVEL_WARNING, error, "%s", what);
}

/* Waits until there is something to do. False when it is time to leave. */
static bool wait_for_work(struct background *task) {
  pthread_mutex_lock(&task->lock);
  task->busy = false;
  while (!task->leaving && !task->wanted)
    pthread_cond_wait(&task->changed, &task->lock);
  task->wanted = false;
  task->busy = !task->leaving;
  bool stays = task->busy;
  pthread_mutex_unlock(&task->lock);
  return stays;
}

static void *work_until_told(void *argument) {
  struct background *task = argument;
  interrupt_set_for_thread(is_leaving, task);
  while (wait_for_work(task)) {
    struct error error;
    struct source *source = NULL;
    if (!source_open_for_work(&source, task->conninfo, false, &error)) {
      background_tell_failure(task, &error, task->name);
      continue;
    }
    task->work(task, source);
    pgconn_cancel(source_connection(source));
    source_close(source);
  }
  return NULL;
}

bool background_wake(struct background *task, struct error *error) {
  pthread_mutex_lock(&task->lock);
  task->wanted = true;
  pthread_cond_broadcast(&task->changed);
  pthread_mutex_unlock(&task->lock);
  if (task->started)
    return true;
  int failed = pthread_create(&task->thread, NULL, work_until_told, task);
  task->started = failed == 0;
  if (failed != 0)
    task->wanted = false; /* so that it does not count as busy */
  return failed == 0 || error_set(error, FAILURE_FATAL, "cannot start a thread: %s", strerror(failed));
}

void background_leave(struct background *task) {
  pthread_mutex_lock(&task->lock);
  task->leaving = true;
  pthread_cond_broadcast(&task->changed);
  pthread_mutex_unlock(&task->lock);
}

void background_release(struct background *task) {
  background_leave(task);
  if (task->started)
    pthread_join(task->thread, NULL);
  pthread_cond_destroy(&task->changed);
  pthread_mutex_destroy(&task->lock);
}
