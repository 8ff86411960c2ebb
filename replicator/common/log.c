#include "common/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/buffer.h"

/* Bytes of a message; a longer one is cut rather than lost. A line has room for all of an error, escaped. */
#define LONGEST_MESSAGE 4096
#define LONGEST_LINE ((size_t)64 * 1024)

static const char *const LEVEL_NAMES[] = {"error", "warning", "info", "debug"};

static enum log_level highest_level = LOG_LEVEL_INFO;
static enum log_format chosen_format = LOG_FORMAT_TEXT;

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
  return error_hint(error, "use error, warning, info or debug");
}

/* ---- formats --------------------------------------------------------------------------------------------------- */

/* Whether stderr is the stream that systemd made for this process. */
static bool leads_to_journal(void) {
  const char *stream = getenv("JOURNAL_STREAM");
  struct stat file;
  char own[64];
  if (stream == NULL || fstat(STDERR_FILENO, &file) != 0)
    return false;
  snprintf(own, sizeof own, "%llu:%llu", (unsigned long long)file.st_dev, (unsigned long long)file.st_ino);
  return strcmp(stream, own) == 0;
}

bool log_format_parse(const char *name, enum log_format *format, struct error *error) {
  static const char *const NAMES[] = {"text", "json", "journal"};
  if (strcmp(name, "auto") == 0) {
    *format = leads_to_journal() ? LOG_FORMAT_JOURNAL : LOG_FORMAT_TEXT;
    return true;
  }
  for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
    if (strcmp(name, NAMES[i]) == 0) {
      *format = (enum log_format)i;
      return true;
    }
  }
  error_set(error, FAILURE_USAGE, "unknown log format \"%s\"", name);
  return error_hint(error, "use auto, text, json or journal");
}

void log_set_format(enum log_format format) {
  chosen_format = format;
}

bool log_is_text(void) {
  return chosen_format == LOG_FORMAT_TEXT;
}

static _Thread_local const char *about_target = NULL;
static _Thread_local const char *about_table = NULL;

void log_about(const char *target, const char *table) {
  about_target = target;
  about_table = table;
}

static void write_time(struct buffer *line) {
  char text[32];
  struct timespec now;
  struct tm utc;
  clock_gettime(CLOCK_REALTIME, &now);
  gmtime_r(&now.tv_sec, &utc);
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
  buffer_add_format(line, "%s.%03ldZ", text, now.tv_nsec / 1000000);
}

static void write_text(struct buffer *line, const char *message, const struct error *error) {
  buffer_add_string(line, message);
  if (error == NULL)
    return;
  buffer_add_format(line, ": %s", error->message);
  if (error->sqlstate[0] != '\0') /* or what HTTP calls its own */
    buffer_add_format(line, " (%s %s)", strlen(error->sqlstate) == 5 ? "SQLSTATE" : "status", error->sqlstate);
  if (error->detail[0] != '\0')
    buffer_add_format(line, "; detail: %s", error->detail);
  if (error->hint[0] != '\0')
    buffer_add_format(line, "; hint: %s", error->hint);
}

static void write_member(struct buffer *line, const char *name, const char *value) {
  if (value[0] == '\0')
    return;
  buffer_add_format(line, ",\"%s\":", name);
  buffer_add_json_string(line, value);
}

static void write_json(struct buffer *line, enum log_level level, const char *message, const struct error *error) {
  buffer_add_string(line, "{\"time\":\"");
  write_time(line);
  buffer_add_format(line, "\",\"level\":\"%s\"", LEVEL_NAMES[level]);
  write_member(line, "message", message);
  write_member(line, "target", about_target != NULL ? about_target : "");
  write_member(line, "table", about_table != NULL ? about_table : "");
  if (error != NULL) {
    write_member(line, "error", error->message);
    write_member(line, "sqlstate", error->sqlstate);
    write_member(line, "detail", error->detail);
    write_member(line, "hint", error->hint);
  }
  buffer_add_string(line, "}");
}

/* Servers answer in several lines; a log has one for each message. */
static void write_line(enum log_level level, const char *message, const struct error *error) {
  static const int PRIORITIES[] = {3, 4, 6, 7}; /* of syslog */
  struct buffer line;
  buffer_init(&line, LONGEST_LINE);
  if (chosen_format == LOG_FORMAT_JSON) {
    write_json(&line, level, message, error);
  } else {
    if (chosen_format == LOG_FORMAT_JOURNAL)
      buffer_add_format(&line, "<%d>", PRIORITIES[level]);
    else
      write_time(&line);
    if (chosen_format == LOG_FORMAT_TEXT)
      buffer_add_format(&line, " %s: ", LEVEL_NAMES[level]);
    write_text(&line, message, error);
  }
  for (char *c = line.data; c != NULL && *c != '\0'; c++)
    if (*c == '\n' || *c == '\r' || *c == '\t')
      *c = ' ';
  flockfile(stderr);
  fputs(line.overflow ? message : line.data, stderr);
  fputc('\n', stderr);
  fflush(stderr);
  funlockfile(stderr);
  buffer_release(&line);
}

/* ---- messages -------------------------------------------------------------------------------------------------- */

void log_message(enum log_level level, const char *format, ...) {
  if (level > highest_level)
    return;
  char message[LONGEST_MESSAGE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  write_line(level, message, NULL);
}

void log_failure(enum log_level level, const struct error *error, const char *format, ...) {
  if (level > highest_level)
    return;
  char message[LONGEST_MESSAGE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  write_line(level, message, error);
}
