#include "target.h"

#include <stdlib.h>
#include <string.h>

#include "url.h"

/* Longest URL with its secrets filled in, in bytes. */
#define URL_LIMIT 16384

static const struct target_kind *const KINDS[] = {&TARGET_POSTGRESQL,
                                                  &TARGET_POSTGRES,
                                                  &TARGET_HTTPS,
                                                  &TARGET_HTTP,
                                                  &TARGET_ELASTICSEARCH_HTTP,
                                                  &TARGET_ELASTICSEARCH_HTTPS,
                                                  &TARGET_OPENSEARCH_HTTP,
                                                  &TARGET_OPENSEARCH_HTTPS,
                                                  &TARGET_NDJSON_HTTP,
                                                  &TARGET_NDJSON_HTTPS,
                                                  &TARGET_CLICKHOUSE_HTTP,
                                                  &TARGET_CLICKHOUSE_HTTPS,
                                                  &TARGET_FILE,
                                                  &TARGET_STDOUT};

struct target {
  const struct target_kind *kind;
  void *handle;
};

bool target_find_kind(const char *url, const struct target_kind **kind, struct error *error) {
  for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++) {
    size_t length = strlen(KINDS[i]->scheme);
    if (strncmp(url, KINDS[i]->scheme, length) == 0 && url[length] == ':') {
      *kind = KINDS[i];
      return true;
    }
  }
  return error_set(error, FAILURE_USAGE, "this program knows no targets such as \"%s\"", url);
}

bool target_open(struct target **target, const struct target_kind *kind, const struct settings *settings,
                 struct source *source, struct error *error) {
  struct buffer url;
  struct target *opened = calloc(1, sizeof *opened);
  if (opened == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  buffer_init(&url, URL_LIMIT);
  bool ok = url_fill_in(settings->url, &url, error) && kind->open(&opened->handle, settings, url.data, source, error);
  buffer_release(&url);
  if (!ok) {
    url_hide(settings->url, error);
    free(opened);
    return false;
  }
  opened->kind = kind;
  *target = opened;
  return true;
}

bool target_push(struct target *target, const struct push *push, struct error *error) {
  return target->kind->push(target->handle, push, error);
}

bool target_test(struct target *target, struct buffer *answer, struct error *error) {
  if (target->kind->test != NULL)
    return target->kind->test(target->handle, answer, error);
  buffer_add_string(answer, "it can be reached");
  return true;
}

void target_close(struct target *target) {
  if (target == NULL)
    return;
  target->kind->close(target->handle);
  free(target);
}
