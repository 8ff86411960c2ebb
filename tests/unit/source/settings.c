/* What is read of a target, out of a reply that PostgreSQL could have given. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "queries.h"
#include "source/settings.h"

#define LONG_LENGTH 100000

static PGresult *reply;
static struct settings *settings;
static struct error error;
static char *long_text;

static void begin(void) {
  PGresAttDesc columns[SETTINGS_COLUMN_COUNT] = {{.name = NULL}};
  for (int i = 0; i < SETTINGS_COLUMN_COUNT; i++)
    columns[i] = (PGresAttDesc){.name = strdup(QUERY_target_settings.columns[i])};
  reply = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
  cr_assert(PQsetResultAttrs(reply, SETTINGS_COLUMN_COUNT, columns));
  for (int i = 0; i < SETTINGS_COLUMN_COUNT; i++)
    free(columns[i].name);
  long_text = malloc(LONG_LENGTH + 1);
  memset(long_text, 'x', LONG_LENGTH);
  long_text[LONG_LENGTH] = '\0';
}

static void end(void) {
  settings_free(settings);
  PQclear(reply);
  free(long_text);
}

TestSuite(settings, .init = begin, .fini = end);

static void set(int column, const char *value) {
  char *copy = strdup(value);
  cr_assert(PQsetvalue(reply, 0, column, copy, (int)strlen(value)));
  free(copy);
}

static void read_it(void) {
  cr_assert(settings_read(&settings, reply, &error), "%s", error.message);
  cr_assert_not_null(settings);
}

Test(settings, there_are_none_of_a_target_that_is_gone) {
  settings = (struct settings *)&error;
  bool ok = settings_read(&settings, reply, &error);
  cr_assert(ok && settings == NULL);
}

Test(settings, texts_have_any_length_and_outlive_the_reply) {
  set(SETTINGS_NAME, "hall");
  set(SETTINGS_URL, long_text);
  set(SETTINGS_OPTIONS, long_text);
  set(SETTINGS_SOURCE_ID, "id");
  set(SETTINGS_REASON, long_text);
  read_it();
  cr_assert_neq(settings->url, PQgetvalue(reply, 0, SETTINGS_URL));
  PQclear(reply);
  reply = NULL;
  cr_assert_str_eq(settings->name, "hall");
  cr_assert_str_eq(settings->url, long_text);
  cr_assert_str_eq(settings->options, long_text);
  cr_assert_str_eq(settings->source_id, "id");
  cr_assert_str_eq(settings->reason, long_text);
}

Test(settings, what_is_null_is_empty) {
  set(SETTINGS_NAME, "hall");
  read_it();
  cr_assert_str_eq(settings->reason, "");
  cr_assert_eq(settings->batch_rows, 0);
  cr_assert_not(settings->running || settings->document || settings->holds);
  cr_assert_eq(settings->on_error, ON_ERROR_PARK);
}

Test(settings, times_are_in_milliseconds_and_words_are_choices) {
  set(SETTINGS_STATE, "running");
  set(SETTINGS_PUSH_TIMEOUT, "30");
  set(SETTINGS_LEASE, "86400");
  set(SETTINGS_ON_ERROR, "halt");
  set(SETTINGS_IS_FAILING, "t");
  set(SETTINGS_BATCH_BYTES, "268435456");
  set(SETTINGS_FLOOR, "9223372036854775807");
  read_it();
  cr_assert(settings->running && settings->failing && !settings->holds);
  cr_assert_eq(settings->push_timeout, 30000);
  cr_assert_eq(settings->lease, 86400000);
  cr_assert_eq(settings->on_error, ON_ERROR_HALT);
  cr_assert_eq(settings->batch_bytes, 268435456);
  cr_assert_eq(settings->floor, INT64_MAX);
}

Test(settings, beside_its_lanes_a_target_has_one_of_barriers_and_of_a_documents_half_are_late) {
  set(SETTINGS_FIRST_LANE, "4095");
  set(SETTINGS_LANES, "64");
  read_it();
  cr_assert_eq(settings->lanes.first, 4095);
  cr_assert_eq(settings->lanes.count, 65);
  cr_assert_eq(settings->lanes.live, 64);
  settings_free(settings);
  set(SETTINGS_IS_DOCUMENT, "t");
  read_it();
  cr_assert_eq(settings->lanes.count, 65);
  cr_assert_eq(settings->lanes.live, 32);
}
