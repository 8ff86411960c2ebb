#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"

#define THREADS 8
#define LINES 500
#define WORD ((char *)"abcdefghijklmnop")

static int file; /* stands in for stderr */
static char text[THREADS * LINES * 64];

static void begin(void) {
  char path[] = "/tmp/rowrelay-log-XXXXXX";
  file = mkstemp(path);
  cr_assert_geq(file, 0);
  unlink(path);
  cr_assert_geq(dup2(file, STDERR_FILENO), 0);
}

TestSuite(log, .init = begin);

static void read_log(void) {
  ssize_t length = pread(file, text, sizeof text - 1, 0);
  cr_assert_geq(length, 0);
  text[length] = '\0';
}

Test(log, a_message_is_one_line_with_time_and_level) {
  int year, millisecond;
  char rest[64];
  log_message(LOG_LEVEL_WARNING, "two\nlines of %d", 2);
  read_log();
  cr_assert_eq(sscanf(text, "%4d-%*2d-%*2dT%*2d:%*2d:%*2d.%3dZ %63[^\n]", &year, &millisecond, rest), 3, "%s", text);
  cr_assert_str_eq(rest, "warning: two lines of 2");
}

Test(log, a_failure_says_everything_that_is_known) {
  struct error error;
  error_set(&error, FAILURE_REFUSED, "value too long");
  strcpy(error.sqlstate, "22001");
  error_detail(&error, "column a");
  error_hint(&error, "shorten it");
  log_failure(LOG_LEVEL_ERROR, &error, "target %s", "warehouse");
  read_log();
  cr_assert_not_null(strstr(text, " error: target warehouse: value too long (SQLSTATE 22001); detail: column a; "
                                  "hint: shorten it\n"),
                     "%s", text);
}

Test(log, what_is_above_the_level_is_dropped) {
  log_message(LOG_LEVEL_DEBUG, "unheard");
  log_set_level(LOG_LEVEL_ERROR);
  log_message(LOG_LEVEL_WARNING, "unheard");
  read_log();
  cr_assert_str_empty(text);
}

Test(log, an_endless_message_is_cut_and_still_a_line) {
  struct error error;
  error_set(&error, FAILURE_FATAL, "%1000d", 1);
  error_detail(&error, "%1000d", 1);
  error_hint(&error, "%1000d", 1);
  log_failure(LOG_LEVEL_ERROR, &error, "%9000d", 1);
  read_log();
  cr_assert_lt(strlen(text), 8000);
  cr_assert_eq(text[strlen(text) - 1], '\n');
}

static void *write_lines(void *argument) {
  for (int i = 0; i < LINES; i++)
    log_message(LOG_LEVEL_INFO, "[%s]", (const char *)argument);
  return NULL;
}

Test(log, lines_of_many_threads_do_not_mix) {
  pthread_t threads[THREADS];
  int lines = 0;
  for (int i = 0; i < THREADS; i++)
    cr_assert_eq(pthread_create(&threads[i], NULL, write_lines, WORD), 0);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  read_log();
  for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"), lines++)
    cr_assert_str_eq(line + strlen("2000-01-01T00:00:00.000Z "), "info: [abcdefghijklmnop]");
  cr_assert_eq(lines, THREADS * LINES);
}

Test(log, a_level_is_known_by_its_name) {
  enum log_level level;
  struct error error;
  cr_assert(log_level_parse("debug", &level, &error));
  cr_assert_eq(level, LOG_LEVEL_DEBUG);
  cr_assert_not(log_level_parse("loud", &level, &error));
  cr_assert_eq(error.kind, FAILURE_USAGE);
}

Test(log, a_failure_is_one_json_object_if_that_is_wished) {
  struct error error;
  enum log_format format;
  cr_assert(log_format_parse("json", &format, &error));
  log_set_format(format);
  error_set(&error, FAILURE_REFUSED, "value \"x\"\nis too long");
  strcpy(error.sqlstate, "22001");
  error_hint(&error, "shorten it");
  log_failure(LOG_LEVEL_WARNING, &error, "target %s", "w\\1");
  read_log();
  cr_assert_not_null(
      strstr(text, "Z\",\"level\":\"warning\",\"message\":\"target w\\\\1\",\"error\":\"value \\\"x\\\"\\u000ais "
                   "too long\",\"sqlstate\":\"22001\",\"hint\":\"shorten it\"}\n"),
      "%s", text);
}

Test(log, the_journal_gets_priorities_where_stderr_leads_there) {
  struct error error;
  enum log_format format;
  struct stat stream;
  char name[64];
  unsetenv("JOURNAL_STREAM");
  cr_assert(log_format_parse("auto", &format, &error) && format == LOG_FORMAT_TEXT);
  setenv("JOURNAL_STREAM", "1:1", 1);
  cr_assert(log_format_parse("auto", &format, &error) && format == LOG_FORMAT_TEXT);
  cr_assert_eq(fstat(STDERR_FILENO, &stream), 0);
  snprintf(name, sizeof name, "%llu:%llu", (unsigned long long)stream.st_dev, (unsigned long long)stream.st_ino);
  setenv("JOURNAL_STREAM", name, 1);
  cr_assert(log_format_parse("auto", &format, &error) && format == LOG_FORMAT_JOURNAL);
  log_set_format(format);
  log_message(LOG_LEVEL_ERROR, "gone");
  log_message(LOG_LEVEL_INFO, "back");
  read_log();
  cr_assert_str_eq(text, "<3>gone\n<6>back\n");
}

Test(log, a_format_that_is_not_known_is_wrong_use) {
  struct error error;
  enum log_format format;
  cr_assert_not(log_format_parse("xml", &format, &error));
  cr_assert_eq(error.kind, FAILURE_USAGE);
  cr_assert_str_eq(error.hint, "use auto, text, json or journal");
}

Test(log, json_has_target_and_table_as_fields) {
  struct error error;
  error_set(&error, FAILURE_REFUSED, "value too long");
  log_set_format(LOG_FORMAT_JSON);
  log_about("warehouse", "shop.\"odd\"");
  log_failure(LOG_LEVEL_WARNING, &error, "refused");
  log_about("warehouse", NULL);
  log_message(LOG_LEVEL_INFO, "works again");
  log_about(NULL, NULL);
  log_message(LOG_LEVEL_INFO, "leaves");
  read_log();
  cr_assert_not_null(strstr(text, "\"message\":\"refused\",\"target\":\"warehouse\",\"table\":\"shop.\\\"odd\\\"\","
                                  "\"error\":\"value too long\"}\n"),
                     "%s", text);
  cr_assert_not_null(strstr(text, "\"message\":\"works again\",\"target\":\"warehouse\"}\n"), "%s", text);
  cr_assert_not_null(strstr(text, "\"message\":\"leaves\"}\n"), "%s", text);
}
