#include "queue/hold.h"

#include <stdlib.h>

#include "postgres/number.h"
#include "queries.h"

bool holds_read(struct batch *batch, const char *text, struct error *error) {
  batch->hold_count = 0;
  size_t count = 0;
  for (const char *c = text; *c != '\0'; c++)
    count += *c == ':';
  if (count == 0)
    return true;
  struct hold *holds = realloc(batch->holds, count * sizeof *holds);
  if (holds == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  batch->holds = holds;
  char *next;
  for (const char *c = text; batch->hold_count < count; c = next) {
    int capture = (int)strtol(c, &next, 10);
    int64_t released_to = strtoll(next + 1, &next, 10);
    holds[batch->hold_count++] = (struct hold){.capture = capture, .released_to = released_to};
  }
  return true;
}

static const struct hold *find(const struct batch *batch, int capture) {
  for (size_t i = 0; i < batch->hold_count; i++)
    if (batch->holds[i].capture == capture)
      return &batch->holds[i];
  return NULL;
}

bool hold_catches(const struct batch *batch, const struct change *change) {
  const struct hold *hold = find(batch, change->capture);
  return hold != NULL && change->id > hold->released_to;
}

/* Whether an earlier change of the table has that outcome already. */
static bool is_listed(const struct outcomes *outcomes, size_t index, bool held) {
  const struct batch *batch = outcomes->batch;
  for (size_t i = index; i > 0; i--) {
    enum outcome outcome = outcomes->fates[i - 1].outcome;
    if (batch->changes[i - 1].capture == batch->changes[index].capture &&
        (held ? outcome == OUTCOME_HELD : outcome != OUTCOME_HELD && outcome != OUTCOME_RETURNED))
      return true;
  }
  return false;
}

static void add_held(const struct outcomes *outcomes, size_t index, struct buffer *list) {
  const struct change *change = &outcomes->batch->changes[index];
  const struct error *why = NULL;
  for (size_t i = index; why == NULL && i < outcomes->batch->count; i++)
    if (outcomes->batch->changes[i].capture == change->capture && outcomes->fates[i].outcome == OUTCOME_HELD)
      why = outcomes->fates[i].why;
  buffer_add_format(list, "%c{\"capture\":%d,\"first_id\":%lld,\"sqlstate\":", list->length == 0 ? '[' : ',',
                    change->capture, (long long)change->id);
  buffer_add_json_string(list, why != NULL && why->sqlstate[0] != '\0' ? why->sqlstate : NULL);
  buffer_add_string(list, ",\"message\":");
  buffer_add_json_string(list, why != NULL ? why->message : NULL);
  buffer_add_string(list, ",\"hint\":");
  buffer_add_json_string(list, why != NULL && why->hint[0] != '\0' ? why->hint : NULL);
  buffer_add_string(list, "}");
}

static void add_passed(const struct outcomes *outcomes, size_t index, struct buffer *list) {
  const struct batch *batch = outcomes->batch;
  int count = 0;
  for (size_t i = index; i < batch->count; i++)
    count += batch->changes[i].capture == batch->changes[index].capture && outcomes->fates[i].outcome != OUTCOME_HELD &&
             outcomes->fates[i].outcome != OUTCOME_RETURNED;
  buffer_add_format(list, "%c{\"capture\":%d,\"count\":%d}", list->length == 0 ? '[' : ',',
                    batch->changes[index].capture, count);
}

void hold_write_lists(const struct outcomes *outcomes, struct buffer *held, struct buffer *passed) {
  const struct batch *batch = outcomes->batch;
  if (batch->hold_count == 0 && outcomes_count(outcomes, OUTCOME_HELD) == 0)
    return;
  for (size_t i = 0; i < batch->count; i++) {
    enum outcome outcome = outcomes->fates[i].outcome;
    if (outcome == OUTCOME_HELD && !is_listed(outcomes, i, true))
      add_held(outcomes, i, held);
    else if (outcome != OUTCOME_HELD && outcome != OUTCOME_RETURNED && find(batch, batch->changes[i].capture) != NULL &&
             !is_listed(outcomes, i, false))
      add_passed(outcomes, i, passed);
  }
  if (held->length > 0)
    buffer_add_string(held, "]");
  if (passed->length > 0)
    buffer_add_string(passed, "]");
}

bool hold_release(struct source *source, int target, struct error *error) {
  return source_run(source, &QUERY_hold_release, VALUES(number(target).text), NULL, error);
}
