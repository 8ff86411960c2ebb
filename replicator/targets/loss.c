#include "targets/loss.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "common/clock.h"
#include "common/error.h"
#include "common/log.h"
#include "common/shell.h"
#include "common/text.h"
#include "targets/target.h"

/* Of two places with one slot, the later one is remembered. */
#define SLOTS 1024
#define TARGETS 512
/* Milliseconds. */
#define QUIET_TIME 60000

struct place {
  uint64_t hash;
  int64_t position;
};

struct warning {
  int target;
  int64_t at; /* clock_now() */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct loss losses[TARGETS];                      /* that nobody has taken yet; more are only logged */
static size_t loss_count;
static struct warning warnings[TARGETS]; /* of two targets with one slot, the later one is remembered */

/* What a server answers to two threads arrives here in any order, so each thread compares its own answers. */
static _Thread_local struct place places[SLOTS];

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

static bool is_quiet(const struct settings *settings) {
  struct warning *warning = &warnings[(unsigned)settings->target % TARGETS];
  pthread_mutex_lock(&lock);
  bool quiet = warning->at != 0 && warning->target == settings->target && clock_now() - warning->at < QUIET_TIME;
  if (!quiet)
    *warning = (struct warning){.target = settings->target, .at = clock_now()};
  pthread_mutex_unlock(&lock);
  return quiet;
}

/* The latest of each target; `is_newer`: than what is kept of it. */
static void keep(const struct loss *loss, bool is_newer) {
  size_t i = 0;
  pthread_mutex_lock(&lock);
  while (i < loss_count && losses[i].target != loss->target)
    i++;
  if (i < TARGETS && (i == loss_count || is_newer))
    losses[i] = *loss;
  if (i < TARGETS && i == loss_count)
    loss_count++;
  pthread_mutex_unlock(&lock);
}

void loss_tell(const struct settings *settings, const char *name, int64_t before, int64_t now) {
  struct error error;
  struct shell_word word;
  struct loss loss = {.target = settings->target};
  error_set(&error, FAILURE_NONE, "the server has lost what it had: %s was at %" PRId64 " and is at %" PRId64, name,
            before, now);
  (void)shell_quote(&word, settings->name);
  if (settings->document)
    error_hint(&error, "what it has lost does not come again by itself: rowrelay status says what brings it");
  else if (keeps_rows(settings))
    error_hint(&error,
               "what it has lost does not come again by itself: rowrelay verify %s --repair; then: rowrelay target "
               "resume %s",
               word.text, word.text);
  else
    error_hint(&error, "what was delivered before does not come again by itself: rowrelay replay %s --since TIME",
               word.text);
  if (!is_quiet(settings))
    log_failure(LOG_LEVEL_WARNING, &error, "target %s", settings->name);
  text_print(loss.what, sizeof loss.what, "%s", error.message);
  text_print(loss.helps, sizeof loss.helps, "%s", error.hint);
  keep(&loss, true);
}

void loss_give_back(const struct loss *loss) {
  keep(loss, false);
}

bool loss_take(struct loss *loss) {
  pthread_mutex_lock(&lock);
  bool any = loss_count > 0;
  if (any)
    *loss = losses[--loss_count];
  pthread_mutex_unlock(&lock);
  return any;
}

void loss_look(const struct settings *settings, const char *name, int part, int64_t position) {
  uint64_t hash = hash_of(settings, name, part);
  struct place *place = &places[hash % SLOTS];
  if (place->hash == hash && position < place->position)
    loss_tell(settings, name, place->position, position);
  *place = (struct place){.hash = hash, .position = position};
}
