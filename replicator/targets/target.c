#include "targets/target.h"

#include <stdlib.h>
#include <string.h>

#include "common/url.h"

/* Each kind is defined in its own file. The order is that of the help. */
#define EACH_KIND(DO)                                                                                                  \
  DO(TARGET_POSTGRESQL)                                                                                                \
  DO(TARGET_WEBHOOK)                                                                                                   \
  DO(TARGET_SEARCH)                                                                                                    \
  DO(TARGET_CLICKHOUSE)                                                                                                \
  DO(TARGET_NDJSON)                                                                                                    \
  DO(TARGET_KAFKA)                                                                                                     \
  DO(TARGET_REDIS)                                                                                                     \
  DO(TARGET_NATS)                                                                                                      \
  DO(TARGET_AMQP)                                                                                                      \
  DO(TARGET_FILE)                                                                                                      \
  DO(TARGET_STDOUT)

#define DECLARE(NAME) extern const struct target_kind NAME;
#define LIST(NAME) &(NAME),

EACH_KIND(DECLARE)
const struct target_kind *const TARGET_KINDS[] = {EACH_KIND(LIST) NULL};

struct target {
  const struct target_kind *kind;
  const struct settings *settings; /* borrowed */
  struct source *source;           /* borrowed; its answers are recorded there */
  void *handle;
};

static bool has_scheme(const struct target_kind *kind, const char *url, size_t length) {
  for (const struct target_url *known = kind->urls; known->scheme != NULL; known++)
    if (strlen(known->scheme) == length && memcmp(url, known->scheme, length) == 0)
      return true;
  return false;
}

bool target_find_kind(const char *url, const struct target_kind **kind, struct error *error) {
  size_t length = strcspn(url, ":");
  for (size_t i = 0; url[length] == ':' && TARGET_KINDS[i] != NULL; i++)
    if (has_scheme(TARGET_KINDS[i], url, length)) {
      *kind = TARGET_KINDS[i];
      return true;
    }
  return error_set(error, FAILURE_USAGE, "\"%s\" is not a supported URL", url);
}

bool target_check_built(const char *url, struct error *error) {
  const struct target_kind *kind = NULL;
  if (url == NULL || !target_find_kind(url, &kind, NULL) || kind == NULL || kind->lacks == NULL)
    return true;
  error_set(error, FAILURE_USAGE, "this rowrelay was built without %s, which %s targets need", kind->lacks, kind->name);
  return error_hint(error, "install Debian's package %s-dev, then build rowrelay again: make", kind->lacks);
}

bool target_keeps_state(const struct target_kind *kind, const struct settings *settings) {
  return kind->keeps_state && !settings->append;
}

/* A receiver may echo what was sent to it, passwords included. */
static void hide_secrets(const struct settings *settings, struct error *error) {
  url_hide(settings->url, error);
  url_hide(settings->options, error);
}

/* Makes an error fit to be recorded at the source. */
static void make_notable(const struct settings *settings, struct source *source, struct error *error) {
  hide_secrets(settings, error);
  pgconn_fit_error(source_connection(source), error);
}

bool target_open(struct target **target, const struct target_kind *kind, const struct settings *settings,
                 struct source *source, struct error *error) {
  struct buffer url;
  struct target *opened = calloc(1, sizeof *opened);
  if (opened == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  buffer_init(&url, URL_LIMIT);
  bool ok = target_check_built(settings->url, error) && url_fill_in(settings->url, "URL", &url, error) &&
            kind->open(&opened->handle, settings, url.data, source, error);
  buffer_release(&url);
  if (!ok) {
    make_notable(settings, source, error);
    free(opened);
    return false;
  }
  opened->kind = kind;
  opened->settings = settings;
  opened->source = source;
  *target = opened;
  return true;
}

bool target_check(const struct settings *settings, struct error *error) {
  const struct target_kind *kind = NULL;
  struct buffer url;
  void *handle = NULL;
  buffer_init(&url, URL_LIMIT);
  bool ok = target_find_kind(settings->url, &kind, error) && url_fill_in(settings->url, "URL", &url, error) &&
            kind != NULL && target_check_built(settings->url, error) &&
            (!kind->opens_alone || kind->open(&handle, settings, url.data, NULL, error));
  if (handle != NULL)
    kind->close(handle);
  buffer_release(&url);
  if (ok)
    return true;
  hide_secrets(settings, error);
  char hint[sizeof error->hint];
  memcpy(hint, error->hint, sizeof hint);
  /* Nothing is wrong with the target where memory was short. */
  error_set(error, error->kind == FAILURE_RETRY ? FAILURE_RETRY : FAILURE_USAGE, "target %s: %s", settings->name,
            error->message);
  return error_hint(error, "%s", hint);
}

bool push_hold(const struct push *push, int capture, struct error *error) {
  error->kind = FAILURE_TABLE;
  for (size_t i = 0; i < push->count; i++)
    if (push->changes[i]->capture == capture)
      push->verdicts[i].kind = VERDICT_HELD;
  return false;
}

bool push_is_still_ours(const struct push *push, struct error *error) {
  return push->still_ours == NULL || push->still_ours(push->claimer, error);
}

bool target_push(struct target *target, const struct push *push, struct error *error) {
  bool ok = target->kind->push(target->handle, push, error);
  if (!ok)
    make_notable(target->settings, target->source, error);
  for (size_t i = 0; i < push->count; i++) {
    pgconn_fit_text(source_connection(target->source), push->verdicts[i].answer);
    if (push->verdicts[i].why != NULL)
      make_notable(target->settings, target->source, push->verdicts[i].why);
  }
  return ok;
}

bool target_recall(struct target *target, const struct push *push, struct error *error) {
  if (target->kind->recall == NULL || target->kind->recall(target->handle, push, error))
    return true;
  make_notable(target->settings, target->source, error);
  return false;
}

bool target_test(struct target *target, struct buffer *answer, struct error *error) {
  if (target->kind->test != NULL) {
    bool ok = target->kind->test(target->handle, answer, error);
    if (!ok)
      make_notable(target->settings, target->source, error);
    return ok;
  }
  buffer_add_string(answer, "reachable");
  return true;
}

void target_close(struct target *target) {
  if (target == NULL)
    return;
  target->kind->close(target->handle);
  free(target);
}
