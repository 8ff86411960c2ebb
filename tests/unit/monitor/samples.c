/* What the charts of the console are drawn from: an hour of samples, and a day of peaks. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "monitor/samples.h"
#include "queries.h"

static struct samples samples;
static struct buffer json;

#define DAY_BEGINS INT64_C(1800000000)

/* A reading of target w at this many seconds after DAY_BEGINS. */
static void take(int64_t second, const char *backlog) {
  static PGresAttDesc columns[SAMPLE_COLUMN_COUNT];
  static char name[] = "x";
  PGresult *reply = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
  for (int i = 0; i < SAMPLE_COLUMN_COUNT; i++)
    columns[i].name = name;
  cr_assert(PQsetResultAttrs(reply, SAMPLE_COLUMN_COUNT, columns));
  static const struct {
    int column;
    const char *value;
  } VALUES_OF_W[] = {{SAMPLE_TARGET, "w"}, {SAMPLE_STATE, "running"}, {SAMPLE_LAG, "1.5"}, {SAMPLE_RATE, "2"}};
  for (size_t i = 0; backlog != NULL && i < sizeof VALUES_OF_W / sizeof *VALUES_OF_W; i++) {
    char value[16];
    snprintf(value, sizeof value, "%s", VALUES_OF_W[i].value);
    PQsetvalue(reply, 0, VALUES_OF_W[i].column, value, (int)strlen(value));
  }
  if (backlog != NULL) {
    char value[16];
    snprintf(value, sizeof value, "%s", backlog);
    PQsetvalue(reply, 0, SAMPLE_BACKLOG, value, (int)strlen(value));
  }
  samples_add(&samples, reply, DAY_BEGINS + second);
  PQclear(reply);
}

static const char *written(enum samples_detail detail) {
  struct samples_json writer;
  buffer_clear(&json);
  samples_begin(&writer, &samples, detail, &json);
  samples_of(&writer, "w");
  samples_of(&writer, "nobody");
  samples_of(&writer, NULL);
  samples_end(&writer);
  return json.data;
}

static void begin(void) {
  samples_init(&samples);
  buffer_init(&json, 1 << 20);
}

static void end(void) {
  buffer_release(&json);
  samples_release(&samples);
}

TestSuite(samples, .init = begin, .fini = end);

Test(samples, a_day_has_the_highest_of_each_five_minutes) {
  take(10, "3");
  take(20, "7");
  take(30, "5");
  take(310, "1");
  cr_assert_str_eq(written(SAMPLES_DAY),
                   "{\"at\":[1800000000,1800000300],\"targets\":{\"w\":{\"backlog\":[7.000,1.000],"
                   "\"lag\":[1.500,1.500],\"rate\":[2.000,2.000]}}}");
}

Test(samples, what_was_not_read_is_not_in_the_day) {
  take(0, "3");
  take(3000, "4");
  cr_assert_str_eq(written(SAMPLES_DAY),
                   "{\"at\":[1800000000,1800003000],\"targets\":{\"w\":{\"backlog\":[3.000,4.000],"
                   "\"lag\":[1.500,1.500],\"rate\":[2.000,2.000]}}}");
}

Test(samples, a_target_that_is_gone_is_unknown_and_no_zero) {
  take(0, "3");
  take(300, NULL);
  cr_assert_str_eq(written(SAMPLES_DAY), "{\"at\":[1800000000,1800000300],\"targets\":{\"w\":{\"backlog\":[3.000,null],"
                                         "\"lag\":[1.500,null],\"rate\":[2.000,null]}}}");
}

/* What is at the same place of the ring is of yesterday. */
Test(samples, nothing_of_the_day_before_is_left) {
  take(600, "9");
  take(86400 + 300, "1");
  cr_assert_str_eq(written(SAMPLES_DAY),
                   "{\"at\":[1800000600,1800086700],\"targets\":{\"w\":{\"backlog\":[9.000,1.000],"
                   "\"lag\":[1.500,1.500],\"rate\":[2.000,2.000]}}}");
  take(86400 + 600, "2");
  cr_assert_str_eq(written(SAMPLES_DAY),
                   "{\"at\":[1800086700,1800087000],\"targets\":{\"w\":{\"backlog\":[1.000,2.000],"
                   "\"lag\":[1.500,1.500],\"rate\":[2.000,2.000]}}}");
}

Test(samples, before_the_first_reading_there_is_nothing) {
  cr_assert_str_eq(written(SAMPLES_DAY), "{\"at\":[],\"targets\":{}}");
  cr_assert_str_eq(written(SAMPLES_ALL), "{\"at\":[],\"targets\":{}}");
}
