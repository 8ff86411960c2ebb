#include "source/settings.h"

#include <stdio.h>
#include <string.h>

#include "common/text.h"
#include "postgres/result.h"

/* Columns of target_settings.sql */
enum {
  COLUMN_TARGET,
  COLUMN_VERSION,
  COLUMN_NAME,
  COLUMN_URL,
  COLUMN_STATE,
  COLUMN_LANES,
  COLUMN_FIRST_LANE,
  COLUMN_APPEND,
  COLUMN_ON_ERROR,
  COLUMN_BATCH_ROWS,
  COLUMN_BATCH_BYTES,
  COLUMN_RETRIES,
  COLUMN_PUSH_TIMEOUT,
  COLUMN_FLOOR,
  COLUMN_SOURCE_ID,
  COLUMN_WORKERS,
  COLUMN_REASON,
  COLUMN_DOCUMENT,
  COLUMN_OPTIONS,
  COLUMN_LEASED,
  COLUMN_LEASE,
  COLUMN_AT_MOST_ONCE,
  COLUMN_FAILING,
  COLUMN_HOLDS
};

static enum on_error read_on_error(const char *text) {
  if (strcmp(text, "block") == 0)
    return ON_ERROR_BLOCK;
  return strcmp(text, "halt") == 0 ? ON_ERROR_HALT : ON_ERROR_PARK;
}

static bool copy_text(char *into, size_t size, const char *text, const char *what, struct error *error) {
  int length = snprintf(into, size, "%s", text);
  return (size_t)length < size || error_set(error, FAILURE_USAGE, "%s is longer than %zu bytes", what, size - 1);
}

bool settings_read(struct settings *settings, const PGresult *reply, int row, struct error *error) {
  *settings = (struct settings){
      .target = reply_int(reply, row, COLUMN_TARGET),
      .version = reply_int(reply, row, COLUMN_VERSION),
      .running = strcmp(PQgetvalue(reply, row, COLUMN_STATE), "running") == 0,
      .lanes = {.first = reply_int(reply, row, COLUMN_FIRST_LANE), .count = 1 + reply_int(reply, row, COLUMN_LANES)},
      .document = reply_bool(reply, row, COLUMN_DOCUMENT),
      .leased = reply_bool(reply, row, COLUMN_LEASED),
      .lease = 1000 * reply_bigint(reply, row, COLUMN_LEASE),
      .at_most_once = reply_bool(reply, row, COLUMN_AT_MOST_ONCE),
      .failing = reply_bool(reply, row, COLUMN_FAILING),
      .holds = reply_bool(reply, row, COLUMN_HOLDS),
      .append = reply_bool(reply, row, COLUMN_APPEND),
      .on_error = read_on_error(PQgetvalue(reply, row, COLUMN_ON_ERROR)),
      .batch_rows = reply_int(reply, row, COLUMN_BATCH_ROWS),
      .batch_bytes = reply_bigint(reply, row, COLUMN_BATCH_BYTES),
      .retries = reply_int(reply, row, COLUMN_RETRIES),
      .push_timeout = 1000 * reply_bigint(reply, row, COLUMN_PUSH_TIMEOUT),
      .floor = reply_bigint(reply, row, COLUMN_FLOOR),
      .workers = reply_int(reply, row, COLUMN_WORKERS),
  };
  settings->lanes.live = settings->document ? (settings->lanes.count - 1) / 2 : settings->lanes.count - 1;
  letters_print(settings->reason, sizeof settings->reason, "%s", PQgetvalue(reply, row, COLUMN_REASON));
  return copy_text(settings->name, sizeof settings->name, PQgetvalue(reply, row, COLUMN_NAME), "a target's name",
                   error) &&
         copy_text(settings->url, sizeof settings->url, PQgetvalue(reply, row, COLUMN_URL), "a target's URL", error) &&
         copy_text(settings->options, sizeof settings->options, PQgetvalue(reply, row, COLUMN_OPTIONS),
                   "a target's list of options", error) &&
         copy_text(settings->source_id, sizeof settings->source_id, PQgetvalue(reply, row, COLUMN_SOURCE_ID),
                   "the source's id", error);
}
