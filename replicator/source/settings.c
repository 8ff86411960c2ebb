#include "source/settings.h"

#include <stdlib.h>
#include <string.h>

#include "postgres/result.h"
#include "queries.h"

/* ---- one row of target_settings.sql ---------------------------------------------------------------------------- */

static enum on_error read_on_error(const char *text) {
  if (strcmp(text, "block") == 0)
    return ON_ERROR_BLOCK;
  return strcmp(text, "halt") == 0 ? ON_ERROR_HALT : ON_ERROR_PARK;
}

/* NULL: out of memory. */
static struct settings *read_row(const PGresult *reply, int row) {
  struct settings read = {
      .target = result_int(reply, row, SETTINGS_TARGET),
      .version = result_int(reply, row, SETTINGS_VERSION),
      .running = strcmp(PQgetvalue(reply, row, SETTINGS_STATE), "running") == 0,
      .lanes = {.first = result_int(reply, row, SETTINGS_FIRST_LANE),
                .count = 1 + result_int(reply, row, SETTINGS_LANES)},
      .document = result_bool(reply, row, SETTINGS_IS_DOCUMENT),
      .leased = result_bool(reply, row, SETTINGS_IS_LEASED),
      .lease = 1000 * result_bigint(reply, row, SETTINGS_LEASE),
      .at_most_once = result_bool(reply, row, SETTINGS_AT_MOST_ONCE),
      .failing = result_bool(reply, row, SETTINGS_IS_FAILING),
      .holds = result_bool(reply, row, SETTINGS_HAS_HOLDS),
      .restored = result_bool(reply, row, SETTINGS_IS_RESTORED),
      .append = result_bool(reply, row, SETTINGS_APPEND),
      .on_error = read_on_error(PQgetvalue(reply, row, SETTINGS_ON_ERROR)),
      .batch_rows = result_int(reply, row, SETTINGS_BATCH_ROWS),
      .batch_bytes = result_bigint(reply, row, SETTINGS_BATCH_BYTES),
      .retries = result_int(reply, row, SETTINGS_RETRIES),
      .push_timeout = 1000 * result_bigint(reply, row, SETTINGS_PUSH_TIMEOUT),
      .floor = result_bigint(reply, row, SETTINGS_FLOOR),
      .workers = result_int(reply, row, SETTINGS_WORKERS),
      .name = PQgetvalue(reply, row, SETTINGS_NAME),
      .url = PQgetvalue(reply, row, SETTINGS_URL),
      .options = PQgetvalue(reply, row, SETTINGS_OPTIONS),
      .source_id = PQgetvalue(reply, row, SETTINGS_SOURCE_ID),
      .reason = PQgetvalue(reply, row, SETTINGS_REASON),
  };
  read.lanes.live = read.document ? (read.lanes.count - 1) / 2 : read.lanes.count - 1;
  const char **texts[] = {&read.name, &read.url, &read.options, &read.source_id, &read.reason};
  size_t count = sizeof texts / sizeof texts[0];
  size_t size = 0;
  for (size_t i = 0; i < count; i++)
    size += strlen(*texts[i]) + 1;
  struct settings *settings = malloc(sizeof *settings + size);
  if (settings == NULL)
    return NULL;
  /* The reply does not last, so its texts are copied to behind the settings. */
  char *next = (char *)(settings + 1);
  for (size_t i = 0; i < count; i++) {
    size_t length = strlen(*texts[i]) + 1;
    memcpy(next, *texts[i], length);
    *texts[i] = next;
    next += length;
  }
  *settings = read;
  return settings;
}

void settings_free(struct settings *settings) {
  free(settings);
}

bool settings_are_of_this_source(const struct settings *settings, struct error *error) {
  return !settings->restored ||
         error_set(error, FAILURE_RETRY, "the database was restored from a dump while this process ran");
}

/* ---- several --------------------------------------------------------------------------------------------------- */

static bool read_all(struct settings_list *list, const PGresult *reply, struct error *error) {
  size_t count = (size_t)PQntuples(reply);
  *list = (struct settings_list){.all = calloc(count + 1, sizeof(struct settings *))};
  bool ok = list->all != NULL;
  while (ok && list->count < count) {
    struct settings *settings = read_row(reply, (int)list->count);
    ok = settings != NULL;
    if (ok)
      list->all[list->count++] = settings;
  }
  if (ok)
    return true;
  settings_list_release(list);
  return error_set(error, FAILURE_RETRY, "out of memory");
}

bool settings_list_load(struct settings_list *list, struct source *source, const char *names, struct error *error) {
  PGresult *reply = NULL;
  *list = (struct settings_list){.all = NULL};
  bool ok =
      source_run(source, &QUERY_target_settings, VALUES(names, NULL), &reply, error) && read_all(list, reply, error);
  PQclear(reply);
  return ok;
}

void settings_list_release(struct settings_list *list) {
  for (size_t i = 0; i < list->count; i++)
    settings_free(list->all[i]);
  free(list->all);
  *list = (struct settings_list){.all = NULL};
}

/* ---- one ------------------------------------------------------------------------------------------------------- */

bool settings_read(struct settings **settings, const PGresult *reply, struct error *error) {
  *settings = NULL;
  if (PQntuples(reply) == 0)
    return true;
  *settings = read_row(reply, 0);
  return *settings != NULL || error_set(error, FAILURE_RETRY, "out of memory");
}

bool settings_load(struct settings **settings, struct source *source, const char *name, struct error *error) {
  /* A command runs it once, so it is not prepared. */
  const struct query find = QUERY_ONCE(QUERY_target_id);
  const struct query read = QUERY_ONCE(QUERY_target_settings);
  PGresult *id = NULL;
  PGresult *reply = NULL;
  *settings = NULL;
  bool ok = source_run(source, &find, VALUES(name), &id, error);
  if (!ok && strcmp(error->sqlstate, "42704") == 0)
    error->kind = FAILURE_USAGE;
  ok = ok && source_run(source, &read, VALUES(NULL, PQgetvalue(id, 0, 0)), &reply, error) &&
       settings_read(settings, reply, error);
  if (ok && *settings == NULL)
    ok = error_set(error, FAILURE_USAGE, "target \"%s\" does not exist", name); /* it was dropped just now */
  PQclear(id);
  PQclear(reply);
  return ok;
}
