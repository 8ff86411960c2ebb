#include "targets/loss.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "common/clock.h"
#include "common/error.h"
#include "common/log.h"
#include "common/shell.h"
#include "common/text.h"
#include "targets/target.h"

/* Of two places with one slot, the later one is remembered. */
#define SLOTS 1024
#define TARGETS 64
/* Milliseconds. */
#define QUIET_TIME 60000

struct place {
  uint64_t hash;
  int64_t position;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct loss losses[TARGETS];                      /* that nobody has taken yet; more are only logged */
static size_t loss_count;

static _Thread_local struct place places[SLOTS];
static _Atomic int64_t warned_at[TARGETS]; /* clock_now(); 0: never */

/* With the URL: where a target is sent elsewhere, nothing was lost. */
static uint64_t hash_of(const struct settings *settings, const char *name, int part) {
  uint64_t hash = text_hash(TEXT_HASH_BEGIN ^ (uint64_t)(unsigned)settings->target, settings->url);
  return text_hash(hash, name) ^ (uint64_t)(unsigned)part;
}

/* Whether rows of the target can be compared with those of the source. */
static bool keeps_rows(const struct settings *settings) {
  const struct target_kind *kind;
  struct error ignored;
  return !settings->append && target_find_kind(settings->url, &kind, &ignored) && kind->keeps_state;
}

static void warn(const struct settings *settings, const char *name, int64_t before, int64_t now) {
  struct error error;
  struct shell_word word;
  int64_t last = atomic_load(&warned_at[(unsigned)settings->target % TARGETS]);
  if ((last != 0 && clock_now() - last < QUIET_TIME) ||
      !atomic_compare_exchange_strong(&warned_at[(unsigned)settings->target % TARGETS], &last, clock_now()))
    return;
  error_set(&error, FAILURE_NONE, "the server has lost what it had: %s was at %" PRId64 " and is at %" PRId64, name,
            before, now);
  (void)shell_quote(&word, settings->name);
  if (keeps_rows(settings))
    error_hint(&error,
               "what it has lost does not come again by itself: rowrelay verify %s --repair; then: rowrelay target "
               "resume %s",
               word.text, word.text);
  else
    error_hint(&error, "what was delivered before does not come again by itself: rowrelay replay %s --since TIME",
               word.text);
  log_failure(LOG_LEVEL_WARNING, &error, "target %s", settings->name);
  pthread_mutex_lock(&lock);
  if (loss_count < TARGETS) {
    struct loss *loss = &losses[loss_count++];
    loss->target = settings->target;
    text_print(loss->what, sizeof loss->what, "%s", error.message);
    text_print(loss->helps, sizeof loss->helps, "%s", error.hint);
  }
  pthread_mutex_unlock(&lock);
}

bool loss_take(struct loss *loss) {
  pthread_mutex_lock(&lock);
  bool any = loss_count > 0;
  if (any)
    *loss = losses[--loss_count];
  pthread_mutex_unlock(&lock);
  return any;
}

void loss_know(const struct settings *settings, const char *name, int part, int64_t position) {
  uint64_t hash = hash_of(settings, name, part);
  struct place *place = &places[hash % SLOTS];
  if (place->hash != hash || place->position < position)
    *place = (struct place){.hash = hash, .position = position};
}

void loss_look(const struct settings *settings, const char *name, int part, int64_t position) {
  uint64_t hash = hash_of(settings, name, part);
  struct place *place = &places[hash % SLOTS];
  if (place->hash == hash && position < place->position)
    warn(settings, name, place->position, position);
  *place = (struct place){.hash = hash, .position = position};
}
