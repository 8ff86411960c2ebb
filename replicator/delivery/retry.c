#include "delivery/retry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"

/* Pause before the first retry; it doubles with each, up to the longest. Milliseconds. */
#define FIRST_PAUSE 25
#define LONGEST_PAUSE 1000

/* Indexes into the batch, in order. */
struct selection {
  size_t *indexes;
  size_t count;
};

bool delivery_begin(struct delivery *delivery, struct error *error) {
  delivery->fates = calloc(delivery->batch->count + 1, sizeof *delivery->fates);
  delivery->fate_count = delivery->fates != NULL ? delivery->batch->count : 0;
  return delivery->fates != NULL || error_set(error, FAILURE_RETRY, "out of memory");
}

void delivery_release(struct delivery *delivery) {
  for (size_t i = 0; i < delivery->fate_count; i++)
    free(delivery->fates[i].why);
  free(delivery->fates);
  delivery->fates = NULL;
  delivery->fate_count = 0;
}

void delivery_decide(struct delivery *delivery, size_t index, enum outcome outcome, const struct error *why) {
  struct fate *fate = &delivery->fates[index];
  fate->outcome = outcome;
  fate->waits = false;
  if (why == NULL)
    return;
  if (fate->why == NULL)
    fate->why = malloc(sizeof *fate->why);
  if (fate->why != NULL)
    *fate->why = *why;
}

void verdict_refuse(struct verdict *verdict, const struct error *why) {
  verdict->kind = VERDICT_REFUSED;
  if (verdict->why == NULL)
    verdict->why = malloc(sizeof *verdict->why);
  if (verdict->why != NULL)
    *verdict->why = *why;
}

void verdict_clear(struct verdict *verdict) {
  free(verdict->why);
  *verdict = (struct verdict){.kind = VERDICT_NONE};
}

void verdict_answer(struct verdict *verdict, const char *answer) {
  if (verdict->answer[0] == '\0')
    letters_print(verdict->answer, sizeof verdict->answer, "%s", answer);
}

size_t delivery_count(const struct delivery *delivery, enum outcome outcome) {
  size_t count = 0;
  for (size_t i = 0; i < delivery->batch->count; i++)
    count += delivery->fates[i].outcome == outcome;
  return count;
}

static const struct change *change_at(const struct delivery *delivery, size_t index) {
  return &delivery->batch->changes[index];
}

/* Whether an earlier change of that row waits to be tried again. */
static bool is_behind(const struct delivery *delivery, size_t index, size_t waiting) {
  for (size_t i = 0; waiting > 0 && i < index; i++)
    if (delivery->fates[i].waits && change_same_row(change_at(delivery, i), change_at(delivery, index)))
      return true;
  return false;
}

/* Whether an earlier change of that row goes back to the queue. */
static bool is_behind_returned(const struct delivery *delivery, size_t index) {
  for (size_t i = 0; i < index; i++)
    if (delivery->fates[i].goes_back && change_same_row(change_at(delivery, i), change_at(delivery, index)))
      return true;
  return false;
}

/* A change was refused: it is tried again later, with what comes after it of its row. */
static void refuse(struct delivery *delivery, size_t index, const struct error *why, size_t *waiting) {
  delivery_decide(delivery, index, OUTCOME_RETURNED, why);
  delivery->fates[index].attempts++;
  delivery->fates[index].waits = true;
  ++*waiting;
}

/* The target has it. */
static void deliver(struct delivery *delivery, size_t index, const struct verdict *verdict) {
  struct fate *fate = &delivery->fates[index];
  delivery_decide(delivery, index, OUTCOME_DELIVERED, NULL);
  fate->attempts++;
  memcpy(fate->answer, verdict->answer, sizeof fate->answer);
}

/* The target cannot take a table: none of its changes is pushed any more. The first of them says why. */
static void hold_table(struct delivery *delivery, int capture, const struct error *why) {
  for (size_t i = 0; i < delivery->batch->count; i++) {
    struct fate *fate = &delivery->fates[i];
    if (change_at(delivery, i)->capture != capture || fate->outcome != OUTCOME_RETURNED)
      continue;
    fate->goes_back = false;
    free(fate->why);
    fate->why = NULL;
    delivery_decide(delivery, i, OUTCOME_HELD, why);
    why = NULL;
  }
}

/* Does as the verdicts say; what they say nothing of stays in `selection`. */
static void apply_verdicts(struct delivery *delivery, struct selection *selection, struct verdict *verdicts,
                           bool pushed, const struct error *error, size_t *waiting) {
  size_t left = 0;
  for (size_t i = 0; i < selection->count; i++) {
    size_t index = selection->indexes[i];
    switch (verdicts[i].kind) {
    case VERDICT_DELIVERED:
      deliver(delivery, index, &verdicts[i]);
      break;
    case VERDICT_REFUSED:
      refuse(delivery, index, verdicts[i].why != NULL ? verdicts[i].why : error, waiting);
      break;
    case VERDICT_HELD:
      hold_table(delivery, change_at(delivery, index)->capture, verdicts[i].why != NULL ? verdicts[i].why : error);
      break;
    case VERDICT_LATER:
      delivery->fates[index].goes_back = true;
      delivery->some_go_back = true;
      break;
    case VERDICT_NONE:
      if (pushed)
        deliver(delivery, index, &verdicts[i]);
      else
        selection->indexes[left++] = index;
    }
    free(verdicts[i].why);
  }
  selection->count = left;
}

static bool attempt(struct delivery *delivery, struct selection selection, const struct change **room, size_t *waiting,
                    struct error *error);

/* Puts those of the first one's table before the others, and gives how many they are. */
static size_t part_first_table(const struct delivery *delivery, struct selection selection) {
  int capture = change_at(delivery, selection.indexes[0])->capture;
  size_t own = 0;
  for (size_t i = 0; i < selection.count; i++) {
    size_t index = selection.indexes[i];
    if (change_at(delivery, index)->capture != capture)
      continue;
    memmove(&selection.indexes[own + 1], &selection.indexes[own], (i - own) * sizeof *selection.indexes);
    selection.indexes[own++] = index;
  }
  return own;
}

/* A push was in vain because of one of its tables. The others are pushed without it, once it is known which it is. */
static bool attempt_without(struct delivery *delivery, struct selection selection, bool is_named,
                            const struct change **room, size_t *waiting, struct error *error) {
  if (is_named)
    return attempt(delivery, selection, room, waiting, error);
  size_t own = part_first_table(delivery, selection);
  if (own == selection.count) {
    hold_table(delivery, change_at(delivery, selection.indexes[0])->capture, error);
    return true;
  }
  struct selection first = {.indexes = selection.indexes, .count = own};
  struct selection second = {.indexes = selection.indexes + own, .count = selection.count - own};
  return attempt(delivery, first, room, waiting, error) && attempt(delivery, second, room, waiting, error);
}

/* Pushes the changes of `selection`; on a refusal splits it. *waiting counts what is to be tried again. */
static bool attempt(struct delivery *delivery, struct selection selection, const struct change **room, size_t *waiting,
                    struct error *error) {
  size_t count = 0;
  for (size_t i = 0; i < selection.count; i++) {
    size_t index = selection.indexes[i];
    if (delivery->fates[index].outcome == OUTCOME_HELD)
      continue;
    if (is_behind(delivery, index, *waiting)) {
      delivery->fates[index].waits = true;
      ++*waiting;
    } else if (delivery->some_go_back && is_behind_returned(delivery, index)) {
      delivery->fates[index].goes_back = true;
    } else {
      selection.indexes[count] = index;
      room[count++] = change_at(delivery, index);
    }
  }
  selection.count = count;
  if (count == 0)
    return true;
  struct verdict *verdicts = calloc(count, sizeof *verdicts);
  if (verdicts == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  size_t held = delivery_count(delivery, OUTCOME_HELD);
  bool pushed = delivery->push(delivery->context, room, count, verdicts, error);
  apply_verdicts(delivery, &selection, verdicts, pushed, error, waiting);
  free(verdicts);
  if (pushed || ((error->kind == FAILURE_REFUSED || error->kind == FAILURE_TABLE) && selection.count == 0))
    return true;
  if (error->kind == FAILURE_TABLE)
    return attempt_without(delivery, selection, delivery_count(delivery, OUTCOME_HELD) > held, room, waiting, error);
  if (error->kind != FAILURE_REFUSED) {
    for (size_t i = 0; i < selection.count; i++)
      delivery->fates[selection.indexes[i]].unknown = true;
    return false;
  }
  if (selection.count == 1 || delivery->at_most_once) {
    for (size_t i = 0; i < selection.count; i++)
      refuse(delivery, selection.indexes[i], error, waiting);
    return true;
  }
  size_t half = selection.count / 2;
  struct selection first = {.indexes = selection.indexes, .count = half};
  struct selection second = {.indexes = selection.indexes + half, .count = selection.count - half};
  return attempt(delivery, first, room, waiting, error) && attempt(delivery, second, room, waiting, error);
}

/* Collects what waits (or, with `all`, everything that is not decided) and tries it. */
static bool attempt_round(struct delivery *delivery, bool all, struct selection room, const struct change **changes,
                          size_t *waiting, struct error *error) {
  room.count = 0;
  for (size_t i = 0; i < delivery->batch->count; i++) {
    struct fate *fate = &delivery->fates[i];
    if (all ? fate->outcome == OUTCOME_RETURNED && !fate->goes_back : fate->waits) {
      fate->waits = false;
      room.indexes[room.count++] = i;
    }
  }
  *waiting = 0;
  return attempt(delivery, room, changes, waiting, error);
}

/*
 * The tries are used up. Those that were refused stay so if that is final, and what waits behind them is treated as the
 * target asks. *more tells whether some of it may be pushed now.
 */
static bool give_up(struct delivery *delivery, bool *more, struct error *error) {
  bool any_goes_back = false;
  *more = false;
  for (size_t i = 0; i < delivery->batch->count; i++) {
    struct fate *fate = &delivery->fates[i];
    bool final = true;
    if (!fate->waits)
      continue;
    if (any_goes_back && is_behind_returned(delivery, i))
      final = false;
    else if (fate->why != NULL &&
             !delivery->is_final(delivery->context, change_at(delivery, i), fate->why, &final, error))
      return false;
    fate->waits = false;
    if (!final)
      any_goes_back = delivery->some_go_back = fate->goes_back = true;
    else if (fate->why != NULL)
      fate->outcome = OUTCOME_REFUSED;
    else if (delivery->on_error == ON_ERROR_BLOCK ||
             (delivery->on_error == ON_ERROR_PARK && change_is_of_any_row(change_at(delivery, i))))
      fate->outcome = OUTCOME_BLOCKED;
    else if (delivery->on_error == ON_ERROR_PARK)
      *more = true;
  }
  return true;
}

bool delivery_run(struct delivery *delivery, struct error *error) {
  size_t count = delivery->batch->count;
  bool ok = false;
  struct selection room = {.indexes = calloc(count + 1, sizeof *room.indexes)};
  const struct change **changes = calloc(count + 1, sizeof *changes);
  if (room.indexes == NULL || changes == NULL) {
    error_set(error, FAILURE_RETRY, "out of memory");
    goto done;
  }

  size_t waiting;
  bool all = true;
  int retries = delivery->retries;
  for (;;) {
    if (!attempt_round(delivery, all, room, changes, &waiting, error))
      goto done;
    int64_t pause = FIRST_PAUSE;
    for (int n = 0; n < retries && waiting > 0 && delivery->may_retry(delivery->context); n++) {
      if (!delivery->pause(delivery->context, pause)) {
        ok = true; /* what waits goes back to the queue */
        goto done;
      }
      pause = pause < LONGEST_PAUSE / 2 ? 2 * pause : LONGEST_PAUSE;
      if (!attempt_round(delivery, false, room, changes, &waiting, error))
        goto done;
    }
    bool more;
    if (!give_up(delivery, &more, error))
      goto done;
    if (!more)
      break;
    /* What stood behind is tried once; its row has had its tries. */
    all = true;
    retries = 0;
  }
  ok = true;

done:
  free(room.indexes);
  free(changes);
  return ok;
}
