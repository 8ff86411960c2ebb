#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Bytes of one line; what is longer is cut rather than lost. */
#define LONGEST_LINE 4096

static const char *const LEVEL_NAMES[] = {"error", "warning", "info", "debug"};

static enum log_level highest_level = LOG_LEVEL_INFO;

void log_set_level(enum log_level level) {
  highest_level = level;
}

bool log_level_parse(const char *name, enum log_level *level, struct error *error) {
  for (size_t i = 0; i < sizeof LEVEL_NAMES / sizeof LEVEL_NAMES[0]; i++) {
    if (strcmp(name, LEVEL_NAMES[i]) == 0) {
      *level = (enum log_level)i;
      return true;
    }
  }
  error_set(error, FAILURE_USAGE, "unknown log level \"%s\"", name);
  return error_hint(error, "levels are: error, warning, info, debug");
}

/* The line under construction; always a string. */
struct line {
  char text[LONGEST_LINE];
  size_t length;
};

__attribute__((format(printf, 2, 0))) static void line_add_va(struct line *line, const char *format,
                                                              va_list arguments) {
  size_t room = sizeof line->text - line->length;
  int length = vsnprintf(line->text + line->length, room, format, arguments);
  if (length > 0)
    line->length += (size_t)length < room ? (size_t)length : room - 1;
}

__attribute__((format(printf, 2, 3))) static void line_add(struct line *line, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  line_add_va(line, format, arguments);
  va_end(arguments);
}

static void line_begin(struct line *line, enum log_level level) {
  struct timespec now;
  struct tm utc;
  clock_gettime(CLOCK_REALTIME, &now);
  gmtime_r(&now.tv_sec, &utc);
  line->length = strftime(line->text, sizeof line->text, "%Y-%m-%dT%H:%M:%S", &utc);
  line_add(line, ".%03ldZ %s: ", now.tv_nsec / 1000000, LEVEL_NAMES[level]);
}

/* Servers answer in several lines; a log has one for each message. */
static void line_write(struct line *line) {
  for (char *c = line->text; *c != '\0'; c++)
    if (*c == '\n' || *c == '\r')
      *c = ' ';
  flockfile(stderr);
  fputs(line->text, stderr);
  fputc('\n', stderr);
  fflush(stderr);
  funlockfile(stderr);
}

void log_message(enum log_level level, const char *format, ...) {
  if (level > highest_level)
    return;
  struct line line;
  line_begin(&line, level);
  va_list arguments;
  va_start(arguments, format);
  line_add_va(&line, format, arguments);
  va_end(arguments);
  line_write(&line);
}

void log_failure(enum log_level level, const struct error *error, const char *format, ...) {
  if (level > highest_level)
    return;
  struct line line;
  line_begin(&line, level);
  va_list arguments;
  va_start(arguments, format);
  line_add_va(&line, format, arguments);
  va_end(arguments);
  line_add(&line, ": %s", error->message);
  if (error->sqlstate[0] != '\0') /* or what HTTP calls its own */
    line_add(&line, " (%s %s)", strlen(error->sqlstate) == 5 ? "SQLSTATE" : "status", error->sqlstate);
  if (error->detail[0] != '\0')
    line_add(&line, "; detail: %s", error->detail);
  if (error->hint[0] != '\0')
    line_add(&line, "; hint: %s", error->hint);
  line_write(&line);
}
