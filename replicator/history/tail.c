#include "history/tail.h"

#include <stdio.h>

#include "cli/call.h"
#include "common/clock.h"
#include "common/interrupt.h"
#include "history/follow.h"
#include "postgres/result.h"
#include "queries.h"

/* Milliseconds. */
#define POLL_INTERVAL 250 /* between polls */
#define LEAST_INTERVAL 20 /* the same when the doorbell rings */
#define OLD_INTERVAL 5000 /* between polls of days before yesterday */
#define CONNECT_PAUSE 500

struct tail {
  struct follow_reader reader; /* first: what follow knows of it */
  struct printer *printer;
  struct source **source;
  struct follower recent;
  struct follower old;
  struct follow_shown shown;
  int64_t old_poll_at; /* when to poll old days again */
  bool again_recent;
  bool again_old;
};

static bool print(struct follow_reader *reader, struct source *source, const struct change_list *page, size_t *printed,
                  struct error *error) {
  struct printer *printer = ((struct tail *)reader)->printer;
  bool ok = printer_print(printer, source, page, error);
  *printed = printer->done;
  return ok;
}

/* ---- the beginning --------------------------------------------------------------------------------------------- */

static bool print_last(struct tail *tail, int64_t last, struct error *error) {
  struct log_filter filter = *tail->reader.filter;
  struct log_reader book;
  struct change_list page;
  filter.snapshot = tail->recent.snapshot;
  change_list_init(&page);
  bool ok = last == 0 || log_reader_open(&book, *tail->source, &filter, error);
  for (size_t before = SIZE_MAX; last > 0 && ok && page.count != before && (int64_t)page.count < last;) {
    before = page.count;
    ok = log_reader_read(&book, &page, (size_t)last - page.count, error);
  }
  change_list_reverse(&page);
  tail->printer->life = last > 0 && filter.key != NULL ? &book.list : NULL;
  ok = ok && printer_print(tail->printer, *tail->source, &page, error);
  tail->printer->life = NULL;
  if (last > 0)
    log_reader_close(&book);
  change_list_release(&page);
  return ok;
}

/* Writers ring the doorbell only while some process sleeps; this does not arm it. */
static bool listen(struct source *source, struct error *error) {
  return source_run(source, &QUERY_doorbell_listen, NO_VALUES, NULL, error);
}

static bool begin(struct tail *tail, int64_t last, const PGresult *where, struct error *error) {
  const char *day = PQgetvalue(where, 0, 1);
  if (result_bool(where, 0, 0)) {
    error_set(error, FAILURE_USAGE, "--follow does not work on a standby");
    return error_hint(error, "connect to the primary");
  }
  follow_init(&tail->recent, day, NULL);
  follow_init(&tail->old, NULL, day);
  if (!listen(*tail->source, error) || !follow_begin(&tail->recent, *tail->source, error) ||
      !follow_begin_at(&tail->old, &tail->recent, error))
    return false;
  follow_shown_init(&tail->shown, &tail->recent);
  return print_last(tail, last, error);
}

/* ---- and then -------------------------------------------------------------------------------------------------- */

static bool poll_log(struct tail *tail, struct error *error) {
  if (!follow_poll(&tail->recent, *tail->source, &tail->reader, tail->again_recent, error))
    return false;
  tail->again_recent = false;
  if (clock_now() < tail->old_poll_at)
    return true;
  if (!follow_poll(&tail->old, *tail->source, &tail->reader, tail->again_old, error))
    return false;
  tail->again_old = false;
  tail->old_poll_at = clock_now() + OLD_INTERVAL;
  return true;
}

/* Until the server is there again. */
static bool connect_again(struct tail *tail, const struct options *given, struct error *error) {
  fprintf(stderr, "rowrelay: %s; trying again\n", error->message);
  tail->again_recent = tail->again_old = true;
  tail->old_poll_at = 0;
  for (;;) {
    source_close(*tail->source);
    *tail->source = NULL;
    clock_sleep(CONNECT_PAUSE);
    if (interrupted())
      return error_set(error, FAILURE_STOP, "interrupted");
    if (call_open(tail->source, given, error) && listen(*tail->source, error))
      return true;
    if (error->kind != FAILURE_RETRY)
      return false;
  }
}

static bool follow(struct tail *tail, const struct options *given, struct error *error) {
  while (!interrupted() && !tail->printer->pager->left) {
    if (poll_log(tail, error)) {
      clock_sleep(LEAST_INTERVAL);
      (void)pgconn_wait_notify(source_connection(*tail->source), POLL_INTERVAL - LEAST_INTERVAL, -1);
    } else if (error->kind != FAILURE_RETRY || !connect_again(tail, given, error)) {
      return false;
    }
  }
  return true;
}

bool tail_run(struct source **source, const struct options *given, const struct following *following,
              struct printer *printer, struct error *error) {
  struct tail tail = {.reader = {.filter = following->filter, .shown = &tail.shown, .print = print},
                      .printer = printer,
                      .source = source};
  PGresult *where = NULL;
  printer->newest_first = false;
  bool ok = call_run(*source, &QUERY_cmd_log_follow, NO_VALUES, &where, error) &&
            begin(&tail, following->last, where, error) && follow(&tail, given, error);
  follow_release(&tail.recent);
  follow_release(&tail.old);
  follow_shown_release(&tail.shown);
  PQclear(where);
  return ok || error->kind == FAILURE_STOP;
}
