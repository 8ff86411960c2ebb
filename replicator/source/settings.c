#include "source/settings.h"

#include <stdio.h>
#include <string.h>

#include "common/text.h"
#include "postgres/result.h"

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
  struct result_row from = {reply, row};
  *settings = (struct settings){
      .target = row_int(&from, "target"),
      .version = row_int(&from, "version"),
      .running = strcmp(row_text(&from, "state"), "running") == 0,
      .lanes = {.first = row_int(&from, "first_lane"), .count = 1 + row_int(&from, "lanes")},
      .document = row_bool(&from, "is_document"),
      .leased = row_bool(&from, "is_leased"),
      .lease = 1000 * row_bigint(&from, "lease"),
      .at_most_once = row_bool(&from, "at_most_once"),
      .failing = row_bool(&from, "is_failing"),
      .holds = row_bool(&from, "has_holds"),
      .append = row_bool(&from, "append"),
      .on_error = read_on_error(row_text(&from, "on_error")),
      .batch_rows = row_int(&from, "batch_rows"),
      .batch_bytes = row_bigint(&from, "batch_bytes"),
      .retries = row_int(&from, "retries"),
      .push_timeout = 1000 * row_bigint(&from, "push_timeout"),
      .floor = row_bigint(&from, "floor"),
      .workers = row_int(&from, "workers"),
  };
  settings->lanes.live = settings->document ? (settings->lanes.count - 1) / 2 : settings->lanes.count - 1;
  text_print(settings->reason, sizeof settings->reason, "%s", row_text(&from, "reason"));
  return copy_text(settings->name, sizeof settings->name, row_text(&from, "name"), "a target's name", error) &&
         copy_text(settings->url, sizeof settings->url, row_text(&from, "url"), "a target's URL", error) &&
         copy_text(settings->options, sizeof settings->options, row_text(&from, "options"),
                   "a target's list of options", error) &&
         copy_text(settings->source_id, sizeof settings->source_id, row_text(&from, "source_id"), "the source's id",
                   error);
}
