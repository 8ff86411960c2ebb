#include "delivery.h"

#include <stdlib.h>

/* Pause before the first retry; it doubles with each. Milliseconds. */
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

/* Pushes the changes of `selection`; on a refusal splits it. *waiting counts what is to be tried again. */
static bool attempt(struct delivery *delivery, struct selection selection, const struct change **room, size_t *waiting,
                    struct error *error) {
  size_t count = 0;
  for (size_t i = 0; i < selection.count; i++) {
    size_t index = selection.indexes[i];
    if (is_behind(delivery, index, *waiting)) {
      delivery->fates[index].waits = true;
      ++*waiting;
    } else {
      selection.indexes[count] = index;
      room[count++] = change_at(delivery, index);
    }
  }
  selection.count = count;
  if (count == 0)
    return true;
  if (delivery->push(delivery->context, room, count, error)) {
    for (size_t i = 0; i < count; i++)
      delivery_decide(delivery, selection.indexes[i], OUTCOME_DELIVERED, NULL);
    return true;
  }
  if (error->kind != FAILURE_REFUSED)
    return false;
  if (count == 1) {
    size_t index = selection.indexes[0];
    delivery_decide(delivery, index, OUTCOME_RETURNED, error);
    delivery->fates[index].attempts++;
    delivery->fates[index].waits = true;
    ++*waiting;
    return true;
  }
  struct selection first = {.indexes = selection.indexes, .count = count / 2};
  struct selection second = {.indexes = selection.indexes + count / 2, .count = count - count / 2};
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

/* Whether an earlier change of that row goes back to the queue. */
static bool is_behind_returned(const struct delivery *delivery, size_t index) {
  for (size_t i = 0; i < index; i++)
    if (delivery->fates[i].goes_back && change_same_row(change_at(delivery, i), change_at(delivery, index)))
      return true;
  return false;
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
      any_goes_back = fate->goes_back = true;
    else if (fate->why != NULL)
      fate->outcome = OUTCOME_REFUSED;
    else if (delivery->on_error == ON_ERROR_BLOCK)
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
    for (int n = 0; n < retries && waiting > 0; n++, pause *= 2) {
      if (!delivery->pause(delivery->context, pause < LONGEST_PAUSE ? pause : LONGEST_PAUSE)) {
        ok = true; /* what waits goes back to the queue */
        goto done;
      }
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
