#include "delivery/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/metrics.h"
#include "common/shell.h"
#include "common/text.h"
#include "postgres/number.h"
#include "queries.h"
#include "source/source.h"
#include "targets/target.h"

/* Milliseconds. */
#define SOURCE_FIRST_PAUSE 100 /* before the first reconnection; doubles up to */
#define SOURCE_LONGEST_PAUSE 5000

/* ---- the source ------------------------------------------------------------------------------------------------ */

void work_lose_source(struct work *work, const struct error *error) {
  if (error->kind != FAILURE_STOP && work->source_failures == 0)
    log_failure(LOG_LEVEL_WARNING, error, "target %s: source", work->worker->pool->name);
  work->source_failures++;
  if (work->source != NULL) {
    floor_forget(&work->worker->pool->floor);
    horizon_forget(work->worker->horizon);
  }
  /* A target in the source's own database goes with the connection. */
  work_close_target(work);
  document_release(&work->document);
  batch_clear(&work->batch);
  source_close(work->source);
  work->source = NULL;
  work->breaker.source = NULL;
  breaker_leave(&work->breaker);
  work->has_settings = false;
}

bool work_wait_for_source(struct work *work) {
  int64_t pause = SOURCE_FIRST_PAUSE;
  for (int i = 1; i < work->source_failures && pause < SOURCE_LONGEST_PAUSE; i++)
    pause *= 2;
  return worker_pool_pause(work->worker->pool, pause / 2 + random() % pause);
}

/*
 * A source that does not hear of us for longer than the time between two statements of a claim can be ends it itself:
 * keep_claim() sends one a minute, between pushes; and after a late one the target is tried once more. status says it.
 */
static bool limit_claims(const struct work *work, struct error *error) {
  char timeout[96];
  snprintf(timeout, sizeof timeout, "set idle_in_transaction_session_timeout to %s",
           number(2 * (work->settings->push_timeout + WORK_SOURCE_TIMEOUT)).text);
  return source_script(work->source, timeout, error);
}

bool work_load_settings(struct work *work, struct error *error) {
  struct number target = number(work->worker->pool->target);
  PGresult *replies[3] = {NULL};
  struct pgconn *connection = source_connection(work->source);
  pgconn_pipeline_begin(connection);
  pgconn_pipeline_add(connection, &QUERY_target_settings, VALUES(NULL, target.text));
  pgconn_pipeline_add(connection, &QUERY_target_routes, VALUES(target.text, NULL));
  pgconn_pipeline_add(connection, &QUERY_document_definition, VALUES(target.text));
  if (!pgconn_pipeline_run(connection, replies, 3, error)) {
    for (size_t i = 0; i < 3; i++)
      PQclear(replies[i]);
    return false;
  }
  /* Its URL, options or tables may have changed. */
  work_close_target(work);
  struct settings *settings;
  bool ok = settings_read(&settings, replies[0], error);
  PQclear(replies[0]);
  bool found = settings != NULL;
  if (found) {
    settings_free(work->settings);
    work->settings = settings;
  }
  ok = routes_read(&work->routes, replies[1], error) && ok;
  work->routes.document = found && work->settings->document;
  if (work->routes.document)
    ok = document_read(&work->document, replies[2], work->worker->pool->target, work->source, error) && ok;
  else
    PQclear(replies[2]);
  ok = ok && (found || error_set(error, FAILURE_STOP, "target %s was dropped", work->worker->pool->name));
  /* Nothing that this process knows is true there; the supervisor ends it. */
  ok = ok && (strcmp(work->settings->source_id, work->worker->source_id) == 0 ||
              error_set(error, FAILURE_STOP, "target %s is one of another installation", work->worker->pool->name));
  ok = ok && settings_are_of_this_source(work->settings, error);
  ok = ok && target_find_kind(work->settings->url, &work->kind, error);
  ok = ok && floor_start(&work->worker->pool->floor, work->settings->version, work->settings->lanes,
                         work->settings->floor, error);
  ok = ok && limit_claims(work, error);
  work->has_settings = ok;
  return ok;
}

/* ---- the target ------------------------------------------------------------------------------------------------ */

bool work_open_target(struct work *work, struct error *error) {
  if (work->target != NULL)
    return true;
  return target_open(&work->target, work->kind, work->settings, work->source, error);
}

void work_close_target(struct work *work) {
  target_close(work->target);
  work->target = NULL;
}

void work_open_breaker(struct work *work, const struct error *why) {
  struct error error;
  if (!breaker_open(&work->breaker, why, &error))
    log_failure(LOG_LEVEL_WARNING, &error, "target %s: its failure could not be recorded", work->worker->pool->name);
}

void work_report_failure(struct work *work, const struct error *error) {
  work_close_target(work);
  /* The failure may be due to a change at the source, of a column or the URL, so settings are read again. */
  work->has_settings = false;
  work->has_failed = true;
  atomic_fetch_add(&work->worker->pool->meter->failures, 1);
  if (worker_pool_failed(work->worker->pool, error->message))
    log_failure(LOG_LEVEL_WARNING, error, "target %s", work->settings->name);
  work_open_breaker(work, error);
}

void work_halt_target(struct work *work, const struct error *error, const char *remedy) {
  char reason[1200];
  struct error failed;
  struct shell_word target;
  text_print(reason, sizeof reason, "%s: %s: rowrelay target resume %s", error->message, remedy,
             shell_quote(&target, work->settings->name));
  log_failure(LOG_LEVEL_ERROR, error, "target %s: halted", work->settings->name);
  if (!source_run(work->source, &QUERY_target_halt, VALUES(number(work->settings->target).text, reason), NULL, &failed))
    log_failure(LOG_LEVEL_WARNING, &failed, "target %s: the halt could not be recorded", work->settings->name);
  work->has_settings = false;
}

void work_report_success(struct work *work) {
  work->has_failed = false;
  if (worker_pool_succeeded(work->worker->pool))
    log_message(LOG_LEVEL_INFO, "target %s: delivering again", work->settings->name);
  struct error ignored;
  if (!work->settings->failing)
    return;
  work->settings->failing = false;
  if (!breaker_close(&work->breaker, &ignored))
    log_failure(LOG_LEVEL_WARNING, &ignored, "target %s: its recovery could not be recorded", work->settings->name);
}
