#include "delivery/trace.h"

#include <string.h>

#include "common/clock.h"
#include "common/span.h"
#include "common/text.h"

/* clock_microseconds() as time since 1970. */
static int64_t wall_time(int64_t then) {
  return span_now() - (clock_microseconds() - then);
}

/* The one table of a batch; "": it has several. */
static const char *table_of(const struct batch *batch) {
  const char *table = "";
  for (size_t i = 0; i < batch->count; i++) {
    const struct route *route = batch->changes[i].route;
    if (route == NULL || (i > 0 && route != batch->changes[0].route))
      return "";
    table = route->relation;
  }
  return table;
}

/* A batch belongs to the traces of all its changes, so its own names them. */
static void link_changes(struct span *span, const struct batch *batch) {
  const char *last = "";
  struct span_id id;
  for (size_t i = 0; i < batch->count; i++) {
    const char *traceparent = batch->changes[i].traceparent;
    if (traceparent == NULL || strcmp(traceparent, last) == 0)
      continue;
    last = traceparent;
    if (span_read_parent(traceparent, &id))
      span_link(span, &id);
  }
}

void trace_begin(struct work *work) {
  work->traced = spans_are_wanted();
  if (!work->traced)
    return;
  work->trace = (struct span){
      .name = "rowrelay batch", .began = wall_time(work->batch.read_at), .changes = (int64_t)work->batch.count};
  span_new_trace(&work->trace);
  text_print(work->trace.target, sizeof work->trace.target, "%s", work->settings->name);
  text_print(work->trace.table, sizeof work->trace.table, "%s", table_of(&work->batch));
  link_changes(&work->trace, &work->batch);
}

static void finish(struct span *span, const struct error *error) {
  span->ended = span_now();
  if (error != NULL && error->kind != FAILURE_NONE)
    text_print(span->error, sizeof span->error, "%s", error->message);
  spans_add(span);
}

static struct span part_of(const struct work *work, const char *name, int64_t began) {
  struct span part = {.name = name, .began = wall_time(began), .changes = -1, .delivered = -1, .refused = -1};
  span_new_part(&part, &work->trace);
  text_print(part.target, sizeof part.target, "%s", work->trace.target);
  return part;
}

void trace_push(struct work *work, int64_t began, size_t changes, const struct error *error) {
  if (!work->traced)
    return;
  struct span push = part_of(work, "rowrelay push", began);
  push.changes = (int64_t)changes;
  finish(&push, error);
}

void trace_parent(const struct work *work, char text[TRACE_PARENT_SIZE]) {
  text[0] = '\0';
  if (work->traced)
    span_parent_text(&work->trace, text);
}

void trace_end(struct work *work, int64_t settling, const struct outcomes *outcomes, const struct error *error) {
  if (!work->traced)
    return;
  work->traced = false;
  struct span settlement = part_of(work, "rowrelay settle", settling);
  finish(&settlement, NULL);
  work->trace.delivered = outcomes->fates != NULL ? (int64_t)outcomes_count(outcomes, OUTCOME_DELIVERED) : 0;
  work->trace.refused = outcomes->fates != NULL ? (int64_t)outcomes_count(outcomes, OUTCOME_REFUSED) : 0;
  finish(&work->trace, error);
}
