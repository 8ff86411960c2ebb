#include "doctor/reach.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/shell.h"
#include "common/text.h"
#include "common/url.h"
#include "doctor/time_gap.h"
#include "postgres/number.h"
#include "postgres/result.h"
#include "postgres/session.h"
#include "queries.h"
#include "targets/ddl.h"
#include "targets/http.h"
#include "targets/target.h"
#include "targets/tls_options.h"

#define TIMEOUT 10000 /* milliseconds */

static void add_ok(struct findings *findings, const struct settings *settings, const char *meaning) {
  char what[128];
  text_print(what, sizeof what, "target %s", settings->name);
  const struct finding finding = {.level = "ok", .what = what, .meaning = meaning};
  finding_add(findings, &finding);
}

/* A foreign key of a mirror may take away what was delivered. */
static bool tell_cascades(struct findings *findings, struct pgconn *connection, const struct settings *settings,
                          const char *mirrors, struct error *error) {
  char what[128];
  PGresult *found = NULL;
  const struct query query = QUERY_ONCE(QUERY_mirror_cascades);
  if (!pgconn_run(connection, &query, VALUES(mirrors), &found, error))
    return false;
  text_print(what, sizeof what, "target %s", settings->name);
  for (int row = 0; row < PQntuples(found); row++) {
    const struct finding finding = {.level = "warn",
                                    .what = what,
                                    .tables = result_text(found, row, CASCADES_TABLES),
                                    .meaning = result_text(found, row, CASCADES_MEANING),
                                    .command = result_text(found, row, CASCADES_COMMAND)};
    finding_add(findings, &finding);
  }
  PQclear(found);
  return true;
}

/* `mirrors`: names of the tables that are kept like their sources there, JSON array. */
static bool reach_server(struct findings *findings, const struct settings *settings, const char *url,
                         const char *mirrors, struct error *error) {
  struct pgconn *connection = NULL;
  struct shell_word word;
  if (!pooler_open(&connection, url, SESSION_TARGET, TIMEOUT, error))
    return false;
  pgconn_set_deadline(connection, TIMEOUT);
  int64_t gap = 0;
  bool ok = time_gap(connection, &gap, error);
  if (ok)
    finding_ask(findings, connection, &QUERY_doctor_target,
                VALUES(settings->name, number(gap).text, shell_quote(&word, settings->name)), settings->name);
  ok = ok && tell_cascades(findings, connection, settings, mirrors, error) && ddl_check(connection, error);
  pgconn_close(connection);
  return ok;
}

/* Asked when there is a connection, before the first byte: that is all that is wanted. */
static bool note_connection(void *connected, struct error *why) {
  *(bool *)connected = true;
  return error_set(why, FAILURE_STOP, "nothing is to be sent");
}

static bool connect_to(struct http *http, const char *url, struct error *error) {
  bool connected = false;
  struct http_request request = {
      .method = "HEAD", .url = url, .may_send = note_connection, .asked = &connected, .answer_limit = 1};
  if (!http_start(http, &request, error))
    return false;
  while (http_wait(http, clock_now() + TIMEOUT) == NULL && !connected && request.failure[0] == '\0')
    http_cancel(http, &request);
  http_request_release(&request);
  return connected ||
         error_set(error, FAILURE_RETRY, "no connection%s%s", request.failure[0] != '\0' ? ": " : "", request.failure);
}

static bool reach_http(struct findings *findings, const struct settings *settings, const char *url,
                       struct error *error) {
  static const struct target_option *const TABLES[] = {TARGET_HTTP_OPTIONS, TARGET_TLS_OPTIONS, NULL};
  struct http_target target;
  const char *plus = strchr(url, '+');
  if (plus != NULL && plus < strchr(url, ':'))
    url = plus + 1;
  if (!http_target_init(&target, settings, TABLES, error))
    return false;
  bool ok = connect_to(target.http, url, error);
  http_target_release(&target);
  if (ok)
    add_ok(findings, settings, "it takes connections; nothing was sent");
  return ok;
}

/* Asks the target itself something harmless. */
static bool reach_kind(struct findings *findings, const struct settings *settings, struct source *source,
                       const struct target_kind *kind, struct error *error) {
  struct target *target = NULL;
  struct buffer answer;
  buffer_init(&answer, URL_LIMIT);
  bool ok = target_open(&target, kind, settings, source, error) && target_test(target, &answer, error) &&
            buffer_ok(&answer, "the answer", error);
  if (ok)
    add_ok(findings, settings, answer.data);
  target_close(target);
  buffer_release(&answer);
  return ok;
}

static bool reach_file(struct findings *findings, const struct settings *settings, const char *url,
                       struct error *error) {
  char directory[4096];
  const char *path = strchr(url, ':') + 1;
  const char *slash = strrchr(path, '/');
  text_print(directory, sizeof directory, "%.*s", slash == NULL ? 1 : (int)(slash - path + 1),
             slash == NULL ? "." : path);
  if (access(directory, W_OK | X_OK) != 0) {
    error_set(error, FAILURE_FATAL, "this user cannot write to %s here: %s", directory, strerror(errno));
    return error_hint(error, "ask on the machine, and as the user, of \"rowrelay run\"");
  }
  add_ok(findings, settings, "its directory is there, on this machine");
  return true;
}

static bool reach(struct findings *findings, const struct settings *settings, struct source *source,
                  const char *mirrors, struct error *error) {
  const struct target_kind *kind = NULL;
  struct buffer url;
  buffer_init(&url, URL_LIMIT);
  bool ok = target_find_kind(settings->url, &kind, error) && target_check(settings, error) &&
            url_fill_in(settings->url, "URL", &url, error);
  if (!ok)
    ;
  else if (strncmp(url.data, "postgres", 8) == 0 && strchr(url.data, ':')[1] == '\0')
    add_ok(findings, settings, "it is the source itself");
  else if (strncmp(url.data, "postgres", 8) == 0)
    ok = reach_server(findings, settings, url.data, mirrors, error);
  else if (strcmp(kind->name, "stdout") == 0)
    add_ok(findings, settings, "it is standard output of \"rowrelay run\"");
  else if (kind->test_sends_nothing)
    ok = reach_kind(findings, settings, source, kind, error);
  else if (kind->is_path)
    ok = reach_file(findings, settings, url.data, error);
  else
    ok = reach_http(findings, settings, url.data, error);
  buffer_release(&url);
  return ok;
}

/* What is known of a target at the source, from a row of doctor_targets.sql. Why processes cannot deliver there is told
 * of once: where it fails from here, too, by that. */
static void reach_one(struct findings *findings, struct source *source, const PGresult *rows, int row) {
  const char *name = result_text(rows, row, DOCTOR_TARGET_NAME);
  const char *note = result_text(rows, row, DOCTOR_TARGET_NOTE);
  const char *mirrors = result_text(rows, row, DOCTOR_TARGET_MIRRORS);
  struct settings *settings = NULL;
  struct error error;
  char what[128];
  const struct finding failing = {.level = "warn", .what = what, .meaning = note, .command = "rowrelay status"};
  text_print(what, sizeof what, "target %s", name);
  error_clear(&error);
  if (settings_load(&settings, source, name, &error) && reach(findings, settings, source, mirrors, &error)) {
    if (note != NULL)
      finding_add(findings, &failing);
  } else {
    if (settings != NULL) {
      url_hide(settings->url, &error);
      url_hide(settings->options, &error);
    }
    /* Some errors begin with the name, for a log of all targets. */
    size_t length = strlen(what);
    if (strncmp(error.message, what, length) == 0 && strncmp(error.message + length, ": ", 2) == 0)
      memmove(error.message, error.message + length + 2, strlen(error.message + length + 2) + 1);
    finding_add_error(findings, what, &error);
  }
  settings_free(settings);
}

void reach_all(struct findings *findings, struct source *source) {
  const struct query query = QUERY_ONCE(QUERY_doctor_targets);
  struct error error;
  PGresult *rows = NULL;
  error_clear(&error);
  if (!source_run(source, &query, NO_VALUES, &rows, &error))
    finding_add_error(findings, "targets", &error);
  for (int row = 0; rows != NULL && row < PQntuples(rows); row++)
    reach_one(findings, source, rows, row);
  PQclear(rows);
}
