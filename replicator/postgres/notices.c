#include "postgres/notices.h"

#include <stdlib.h>
#include <string.h>

/* The SQLSTATE with which functions say what they wait for. */
#define LOCK_NOT_AVAILABLE "55P03"

struct kept_notice {
  struct kept_notice *next;
  bool is_warning;
  char *message;
  char *hint; /* NULL: none */
};

void notices_init(struct notices *notices) {
  *notices = (struct notices){.first = NULL};
  notices->end = &notices->first;
}

static void free_notice(struct kept_notice *notice) {
  if (notice == NULL)
    return;
  free(notice->message);
  free(notice->hint);
  free(notice);
}

void notices_clear(struct notices *notices) {
  for (struct kept_notice *next, *notice = notices->first; notice != NULL; notice = next) {
    next = notice->next;
    free_notice(notice);
  }
  notices_init(notices);
}

static bool keep(struct notices *notices, bool is_warning, const char *message, const char *hint) {
  struct kept_notice *kept = calloc(1, sizeof *kept);
  if (kept == NULL)
    return false;
  kept->is_warning = is_warning;
  kept->message = strdup(message);
  kept->hint = hint != NULL ? strdup(hint) : NULL;
  if (kept->message == NULL || (hint != NULL && kept->hint == NULL)) {
    free_notice(kept);
    return false;
  }
  *notices->end = kept;
  notices->end = &kept->next;
  return true;
}

static bool has(const PGresult *notice, int field, const char *text) {
  const char *value = PQresultErrorField(notice, field);
  return value != NULL && strcmp(value, text) == 0;
}

void notices_take(struct notices *notices, const struct notice_reader *reader, const PGresult *notice) {
  const char *message = PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY);
  const char *hint = PQresultErrorField(notice, PG_DIAG_MESSAGE_HINT);
  bool is_warning = has(notice, PG_DIAG_SEVERITY_NONLOCALIZED, "WARNING");
  bool is_ours = has(notice, PG_DIAG_SOURCE_FUNCTION, "exec_stmt_raise");
  if (message == NULL || (!is_warning && !is_ours))
    return;
  bool is_kept = reader->waits_for_success && !has(notice, PG_DIAG_SQLSTATE, LOCK_NOT_AVAILABLE) &&
                 keep(notices, is_warning, message, hint);
  if (!is_kept)
    reader->tell(is_warning, message, hint);
}

void notices_tell(struct notices *notices, const struct notice_reader *reader) {
  for (const struct kept_notice *notice = notices->first; notice != NULL; notice = notice->next)
    reader->tell(notice->is_warning, notice->message, notice->hint);
  notices_clear(notices);
}
