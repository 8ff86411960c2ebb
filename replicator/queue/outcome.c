#include "queue/outcome.h"

#include <stdlib.h>

#include "common/text.h"

bool outcomes_begin(struct outcomes *outcomes, const struct batch *batch, enum on_error on_error, struct error *error) {
  *outcomes = (struct outcomes){.batch = batch, .on_error = on_error};
  outcomes->fates = calloc(batch->count + 1, sizeof *outcomes->fates);
  if (outcomes->fates == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  outcomes->fate_count = batch->count;
  return true;
}

void outcomes_release(struct outcomes *outcomes) {
  for (size_t i = 0; i < outcomes->fate_count; i++)
    free(outcomes->fates[i].why);
  free(outcomes->fates);
  *outcomes = (struct outcomes){.fates = NULL};
}

void outcomes_decide(struct outcomes *outcomes, size_t index, enum outcome outcome, const struct error *why) {
  struct fate *fate = &outcomes->fates[index];
  fate->outcome = outcome;
  if (why == NULL)
    return;
  if (fate->why == NULL)
    fate->why = malloc(sizeof *fate->why);
  if (fate->why != NULL)
    *fate->why = *why;
}

/* Why a table is held is told with the first of its changes. */
static void pass_reason_on(struct outcomes *outcomes, size_t index) {
  struct fate *fate = &outcomes->fates[index];
  for (size_t i = index + 1; fate->why != NULL && i < outcomes->batch->count; i++) {
    if (outcomes->fates[i].outcome != OUTCOME_HELD ||
        outcomes->batch->changes[i].capture != outcomes->batch->changes[index].capture)
      continue;
    free(outcomes->fates[i].why);
    outcomes->fates[i].why = fate->why;
    fate->why = NULL;
  }
}

void outcomes_deliver(struct outcomes *outcomes, size_t index, const char *answer) {
  struct fate *fate = &outcomes->fates[index];
  if (fate->outcome == OUTCOME_HELD)
    pass_reason_on(outcomes, index);
  outcomes_decide(outcomes, index, OUTCOME_DELIVERED, NULL);
  fate->attempts++;
  text_print(fate->answer, sizeof fate->answer, "%s", answer);
}

bool outcomes_has_to_wait(const struct outcomes *outcomes, const struct change *change) {
  bool empties_table = change->operation == OPERATION_TRUNCATE && change->new_row == NULL; /* else it was a partition */
  if (outcomes->keeps_state && empties_table)
    return false; /* nothing refused before it matters any more */
  return outcomes->on_error == ON_ERROR_BLOCK || change_is_of_any_row(change) ||
         (outcomes->keeps_state && change->key == NULL);
}

size_t outcomes_count(const struct outcomes *outcomes, enum outcome outcome) {
  size_t count = 0;
  for (size_t i = 0; i < outcomes->fate_count; i++)
    count += outcomes->fates[i].outcome == outcome;
  return count;
}
