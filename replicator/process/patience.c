#include "process/patience.h"

#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/shell.h"
#include "postgres/result.h"
#include "process/systemd.h"
#include "queries.h"

/* Milliseconds. */
#define AWAY_INTERVAL 60000       /* before the log repeats that the source is unavailable */
#define LONG_AWAY_INTERVAL 600000 /* and between further repetitions */
#define TARGETS_INTERVAL 1000
#define REST 100 /* so long a signal may wait */
#define AWAY_PAUSE 500
#define REFUSED_PAUSE 5000     /* a server logs what it refuses, and only a person ends that */
#define FAILURE_INTERVAL 10000 /* least time between two log lines about failed statements */

static bool set_timeout_error(const struct patience *patience, struct error *error) {
  struct error last = *error;
  error_set(error, FAILURE_FATAL, "source: unavailable for %d s: %s", (int)(patience->wait / 1000), last.message);
  if (last.detail[0] != '\0')
    error_detail(error, "%s", last.detail);
  if (last.hint[0] != '\0')
    error_hint(error, "%s", last.hint);
  return true;
}

enum away patience_judge(struct patience *patience, int64_t now) {
  if (patience->away_since == 0) {
    patience->away_since = now;
    patience->tell_away_at = now + AWAY_INTERVAL;
    return AWAY_IS_NEWS;
  }
  if (patience->wait > 0 && now - patience->away_since >= patience->wait)
    return AWAY_TOO_LONG;
  if (now < patience->tell_away_at)
    return AWAY_IS_KNOWN;
  patience->tell_away_at = now + LONG_AWAY_INTERVAL;
  return AWAY_TO_TELL;
}

bool patience_is_refusal(const struct error *error) {
  return error->kind == FAILURE_FATAL && error->sqlstate[0] != '\0';
}

bool patience_is_in_vain(bool was_connected, bool is_awaited, const struct error *error) {
  bool lacks_right = strcmp(error->sqlstate, "42501") == 0;
  return error->kind == FAILURE_USAGE || source_is_elsewhere(error) ||
         (error->kind == FAILURE_FATAL && !was_connected && (is_awaited || lacks_right || !patience_is_refusal(error)));
}

static const char *trouble(const struct error *error) {
  return patience_is_refusal(error) ? "refuses this process" : "unavailable";
}

/* A source that was connected may just be restarting: a warning; otherwise an error. */
bool patience_try_away(struct patience *patience, bool was_connected, struct error *error) {
  systemd_status("waiting for the source: %s", error->message);
  int64_t now = clock_now();
  patience->try_at = now + (patience_is_refusal(error) ? REFUSED_PAUSE : AWAY_PAUSE);
  switch (patience_judge(patience, now)) {
  case AWAY_IS_NEWS:
    log_failure(was_connected ? LOG_LEVEL_WARNING : LOG_LEVEL_ERROR, error, "source: %s, trying again", trouble(error));
    return false;
  case AWAY_TO_TELL:
    log_failure(LOG_LEVEL_ERROR, error, "source: %s for %d s, trying again", trouble(error),
                (int)((now - patience->away_since) / 1000));
    return false;
  case AWAY_TOO_LONG:
    return set_timeout_error(patience, error);
  default:
    return false;
  }
}

bool patience_rests(const struct patience *patience) {
  bool rests = clock_now() < patience->try_at;
  if (rests)
    usleep(REST * 1000);
  return rests;
}

void patience_connected(struct patience *patience) {
  patience->away_since = 0;
}

bool patience_with_targets(struct patience *patience, struct source *source, const char *instance,
                           struct error *error) {
  PGresult *reply = NULL;
  int64_t now = clock_now();
  if (patience->wait == 0 || now - patience->began < patience->wait || now < patience->ask_at)
    return true;
  patience->ask_at = now + TARGETS_INTERVAL;
  if (!source_run(source, &QUERY_outage_longest, VALUES(instance), &reply, error))
    return false;
  bool ok = PQntuples(reply) == 0 || result_bigint(reply, 0, OUTAGE_MILLISECONDS) < patience->wait ||
            error_set(error, FAILURE_FATAL, "target %s has failed for %d s: %s", PQgetvalue(reply, 0, OUTAGE_TARGET),
                      (int)(patience->wait / 1000), PQgetvalue(reply, 0, OUTAGE_REASON));
  PQclear(reply);
  return ok;
}

bool patience_with_documents(struct patience *patience, struct source *source, const char *instance,
                             struct error *error) {
  PGresult *reply = NULL;
  int64_t now = clock_now();
  if (now < patience->ask_documents_at)
    return true;
  patience->ask_documents_at = now + TARGETS_INTERVAL;
  if (!source_run(source, &QUERY_outage_lasting, VALUES(instance), &reply, error))
    return false;
  bool ok = PQntuples(reply) == 0;
  if (!ok) {
    const char *name = PQgetvalue(reply, 0, LASTING_TARGET);
    struct shell_word word;
    error_set(error, FAILURE_FATAL, "document %s cannot be built, so its queue will not become empty: %s", name,
              PQgetvalue(reply, 0, LASTING_REASON));
    if (result_text(reply, 0, LASTING_HINT) != NULL)
      error_detail(error, "%s", PQgetvalue(reply, 0, LASTING_HINT));
    error_hint(error, "mend what it reads, or drop it and add it again; to see it: rowrelay document show %s",
               shell_quote(&word, name));
  }
  PQclear(reply);
  return ok;
}

bool patience_is_to_tell(struct patience *patience, const struct error *error, int64_t now) {
  bool is_news = strcmp(patience->failure.message, error->message) != 0;
  if (patience->failure.message[0] != '\0' &&
      now - patience->failure_logged_at < (is_news ? FAILURE_INTERVAL : LONG_AWAY_INTERVAL))
    return false;
  patience->failure = *error;
  patience->failure_logged_at = now;
  return true;
}

/* Functions, or rights to them, may be changing. Several statements may fail in turn. */
void patience_report_failure(struct patience *patience, const struct error *error) {
  if (patience_is_to_tell(patience, error, clock_now()))
    log_failure(LOG_LEVEL_ERROR, error, "source: a statement failed, trying again");
}
