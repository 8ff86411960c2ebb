/*
 * log: the log of a long-running process: one line for each message on stderr. Any thread may call it; lines never mix.
 */
#ifndef ROWRELAY_COMMON_LOG_H
#define ROWRELAY_COMMON_LOG_H

#include "common/error.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

enum log_format {
  LOG_FORMAT_TEXT, /* time in UTC, level, message */
  LOG_FORMAT_JSON, /* one object: time, level, message, target, table and, of a failure, error, sqlstate, detail, hint
                    */
  LOG_FORMAT_JOURNAL, /* systemd's: priority and message; the journal adds the time */
};

/*
 * Reads a format's name: "text", "json", "journal", or "auto": journal if stderr goes there, else text.
 */
MUST_CHECK bool log_format_parse(const char *name, enum log_format *format, struct error *error);
/* LOG_FORMAT_TEXT unless set; set it before threads start. */
void log_set_format(enum log_format format);
/* Whether the format is text. */
bool log_is_text(void);

/* Messages above `level` are dropped. LOG_LEVEL_INFO unless set; set it before threads start. */
void log_set_level(enum log_level level);

/* Reads a level's name ("error", "warning", "info", "debug"). */
MUST_CHECK bool log_level_parse(const char *name, enum log_level *level, struct error *error);

/*
 * What all further messages of this thread are about, for the fields of LOG_FORMAT_JSON; NULL: nothing that is known.
 * Borrowed until it is called again.
 */
void log_about(const char *target, const char *table);

void log_message(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same, followed by message, SQLSTATE, detail and hint of `error`. */
void log_failure(enum log_level level, const struct error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
