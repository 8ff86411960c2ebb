#include "process/background.h"

#include <string.h>

#include "common/clock.h"
#include "common/interrupt.h"
#include "common/log.h"

void background_init(struct background *chore, const char *name, const char *conninfo, background_work *work,
                     void *context) {
  *chore = (struct background){.name = name, .conninfo = conninfo, .work = work, .context = context};
  pthread_mutex_init(&chore->lock, NULL);
  clock_init_condition(&chore->changed);
}

bool background_is_leaving(struct background *chore) {
  pthread_mutex_lock(&chore->lock);
  bool leaving = chore->leaving;
  pthread_mutex_unlock(&chore->lock);
  return leaving;
}

bool background_is_busy(struct background *chore) {
  pthread_mutex_lock(&chore->lock);
  bool busy = chore->busy || chore->wanted;
  pthread_mutex_unlock(&chore->lock);
  return busy;
}

static bool is_leaving(void *context) {
  return background_is_leaving(context);
}

void background_rest(struct background *chore, int64_t milliseconds) {
  int64_t until = clock_now() + milliseconds;
  pthread_mutex_lock(&chore->lock);
  while (!chore->leaving && clock_now() < until)
    clock_wait(&chore->changed, &chore->lock, until);
  pthread_mutex_unlock(&chore->lock);
}

void background_tell_failure(const struct error *error, const char *what) {
  if (error->kind != FAILURE_STOP)
    log_failure(LOG_LEVEL_WARNING, error, "%s", what);
}

/* Waits until there is something to do. False when it is time to leave. */
static bool wait_for_work(struct background *chore) {
  pthread_mutex_lock(&chore->lock);
  chore->busy = false;
  while (!chore->leaving && !chore->wanted)
    pthread_cond_wait(&chore->changed, &chore->lock);
  chore->wanted = false;
  chore->busy = !chore->leaving;
  bool stays = chore->busy;
  pthread_mutex_unlock(&chore->lock);
  return stays;
}

static void *work_until_told(void *argument) {
  struct background *chore = argument;
  interrupt_set_for_thread(is_leaving, chore);
  while (wait_for_work(chore)) {
    struct error error;
    struct source *source = NULL;
    if (!source_open_for_work(&source, chore->conninfo, &error)) {
      background_tell_failure(&error, chore->name);
      continue;
    }
    chore->work(chore, source);
    pgconn_cancel(source_connection(source));
    source_close(source);
  }
  return NULL;
}

bool background_wake(struct background *chore, struct error *error) {
  pthread_mutex_lock(&chore->lock);
  chore->wanted = true;
  pthread_cond_broadcast(&chore->changed);
  pthread_mutex_unlock(&chore->lock);
  if (chore->started)
    return true;
  int failed = pthread_create(&chore->thread, NULL, work_until_told, chore);
  chore->started = failed == 0;
  return failed == 0 || error_set(error, FAILURE_FATAL, "cannot start a thread: %s", strerror(failed));
}

void background_leave(struct background *chore) {
  pthread_mutex_lock(&chore->lock);
  chore->leaving = true;
  pthread_cond_broadcast(&chore->changed);
  pthread_mutex_unlock(&chore->lock);
}

void background_release(struct background *chore) {
  background_leave(chore);
  if (chore->started)
    pthread_join(chore->thread, NULL);
  pthread_cond_destroy(&chore->changed);
  pthread_mutex_destroy(&chore->lock);
}
