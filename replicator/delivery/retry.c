#include "delivery/retry.h"

#include <stdlib.h>
#include <string.h>

#include "delivery/ties.h"
#include "postgres/sqlstate.h"
#include "queue/transactions.h"

/* Pause before the first retry; it doubles with each, up to the longest. Milliseconds. */
#define FIRST_PAUSE 25
#define LONGEST_PAUSE 1000

/* Indexes into the batch, in order. */
struct selection {
  size_t *indexes;
  size_t count;
};

struct run {
  const struct retry *retry;
  struct outcomes *outcomes;
  enum standing *standings;      /* one for each change of the batch */
  struct ties ties;              /* read when the first change has stopped; else all NULL */
  size_t *indexes;               /* what a round's selections point into */
  const struct change **changes; /* those of one push */
  size_t waiting;                /* how many changes a round has left to be tried again */
  bool some_go_back;
  bool divides; /* one transaction may be divided now, because this is the last try */
};

static void decide(struct run *run, size_t index, enum outcome outcome, const struct error *why) {
  outcomes_decide(run->outcomes, index, outcome, why);
  run->standings[index] = outcome == OUTCOME_HELD ? STANDING_OUT : STANDING_GOES;
}

static const struct change *change_at(const struct run *run, size_t index) {
  return &run->outcomes->batch->changes[index];
}

static bool is_of_same_transaction(const struct run *run, size_t index, size_t other) {
  const char *txid = change_at(run, index)->txid;
  const char *others = change_at(run, other)->txid;
  return txid != NULL && others != NULL && strcmp(txid, others) == 0;
}

static bool read_ties(struct run *run, struct error *error) {
  return run->ties.row != NULL || ties_read(&run->ties, run->outcomes->batch, run->retry->whole_transactions, error);
}

/* Stops what cannot go on because something that it is tied to does not. */
static bool hold_back(struct run *run, struct selection selection, struct error *error) {
  if (run->waiting == 0 && !run->some_go_back)
    return true;
  if (!read_ties(run, error) || !ties_stop(&run->ties, selection.indexes, selection.count, run->standings, error))
    return false;
  for (size_t i = 0; i < selection.count; i++)
    run->waiting += run->standings[selection.indexes[i]] == STANDING_WAITS;
  return true;
}

/* A change was refused: it is tried again later, with what comes after it of its row. */
static void refuse(struct run *run, size_t index, const struct error *why) {
  decide(run, index, OUTCOME_RETURNED, why);
  run->outcomes->fates[index].attempts++;
  run->standings[index] = STANDING_WAITS;
  run->waiting++;
}

/* The target has it. */
static void deliver(struct run *run, size_t index, const struct verdict *verdict) {
  outcomes_deliver(run->outcomes, index, verdict->answer);
  run->outcomes->fates[index].unfound = verdict->unfound;
  run->standings[index] = STANDING_GOES;
}

/*
 * The target cannot take a table: none of its changes is pushed any more. The first of them says why. What another
 * table has replaced will never fit, and that one must not wait for it: its changes are refused.
 */
static void hold_table(struct run *run, int capture, const struct error *why) {
  for (size_t i = 0; i < run->outcomes->batch->count; i++) {
    struct fate *fate = &run->outcomes->fates[i];
    if (change_at(run, i)->capture != capture || fate->outcome != OUTCOME_RETURNED)
      continue;
    if (change_at(run, i)->route != NULL && change_at(run, i)->route->is_replaced) {
      if (run->standings[i] == STANDING_GOES)
        refuse(run, i, why);
      continue;
    }
    free(fate->why);
    fate->why = NULL;
    decide(run, i, OUTCOME_HELD, why);
    why = NULL;
  }
}

/* Does as the verdicts say; what they say nothing of stays in `selection`. */
static void apply_verdicts(struct run *run, struct selection *selection, struct verdict *verdicts, bool pushed,
                           const struct error *error) {
  size_t left = 0;
  for (size_t i = 0; i < selection->count; i++) {
    size_t index = selection->indexes[i];
    switch (verdicts[i].kind) {
    case VERDICT_DELIVERED:
      deliver(run, index, &verdicts[i]);
      break;
    case VERDICT_REFUSED:
      refuse(run, index, verdicts[i].why != NULL ? verdicts[i].why : error);
      break;
    case VERDICT_HELD:
      if (run->outcomes->fates[index].outcome != OUTCOME_HELD)
        hold_table(run, change_at(run, index)->capture, verdicts[i].why != NULL ? verdicts[i].why : error);
      break;
    case VERDICT_LATER:
      run->standings[index] = STANDING_GOES_BACK;
      run->some_go_back = true;
      break;
    case VERDICT_NONE:
      if (pushed)
        deliver(run, index, &verdicts[i]);
      else
        selection->indexes[left++] = index;
    }
    free(verdicts[i].why);
  }
  selection->count = left;
}

static bool attempt(struct run *run, struct selection selection, struct error *error);

/* Puts those that are `chosen`, by place in the selection, before the others, and gives how many they are. `others` has
 * room for all. */
static size_t part(struct selection selection, const bool *chosen, size_t *others) {
  size_t first = 0;
  size_t left = 0;
  for (size_t i = 0; i < selection.count; i++) {
    if (chosen[i])
      selection.indexes[first++] = selection.indexes[i];
    else
      others[left++] = selection.indexes[i];
  }
  memcpy(&selection.indexes[first], others, left * sizeof *others);
  return first;
}

static bool is_of_one_table(const struct run *run, struct selection selection) {
  for (size_t i = 1; i < selection.count; i++)
    if (change_at(run, selection.indexes[i])->capture != change_at(run, selection.indexes[0])->capture)
      return false;
  return true;
}

static void choose_first_table(const struct run *run, struct selection selection, bool *chosen) {
  int capture = change_at(run, selection.indexes[0])->capture;
  for (size_t i = 0; i < selection.count; i++)
    chosen[i] = change_at(run, selection.indexes[i])->capture == capture;
}

/* Chooses about half of the selection's transactions; none if it has only one. */
static bool choose_transactions(const struct run *run, struct selection selection, bool *chosen, struct error *error) {
  struct queued *queued = calloc(selection.count, sizeof *queued);
  if (queued == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  for (size_t i = 0; i < selection.count; i++) {
    const char *txid = change_at(run, selection.indexes[i])->txid;
    queued[i].txid = txid != NULL ? strtoll(txid, NULL, 10) : 0;
  }
  bool ok = transactions_halve(queued, selection.count, chosen, error);
  free(queued);
  return ok;
}

/* How a selection is divided that cannot be pushed as it is, where all of it is of one transaction, or that does not
 * matter. */
enum division { BY_HALVES, BY_TABLE };

/* Divides a selection of several changes (BY_TABLE: of several tables) in two; *first is the size of the first part. */
static bool divide(const struct run *run, struct selection selection, enum division division, size_t *first,
                   struct error *error) {
  bool *chosen = calloc(selection.count, sizeof *chosen);
  size_t *others = calloc(selection.count, sizeof *others);
  bool ok = chosen != NULL && others != NULL;
  if (!ok) {
    error_set(error, FAILURE_RETRY, "out of memory");
    goto done;
  }
  ok = !run->retry->whole_transactions || choose_transactions(run, selection, chosen, error);
  *first = ok ? part(selection, chosen, others) : 0;
  if (ok && *first == 0 && division == BY_TABLE) {
    choose_first_table(run, selection, chosen);
    *first = part(selection, chosen, others);
  } else if (ok && *first == 0) {
    *first = selection.count / 2;
  }

done:
  free(others);
  free(chosen);
  return ok;
}

static bool is_of_one_transaction(const struct run *run, struct selection selection) {
  for (size_t i = 1; i < selection.count; i++)
    if (!is_of_same_transaction(run, selection.indexes[0], selection.indexes[i]))
      return false;
  return true;
}

static bool attempt_both(struct run *run, struct selection selection, size_t first, struct error *error) {
  struct selection one = {.indexes = selection.indexes, .count = first};
  struct selection other = {.indexes = selection.indexes + first, .count = selection.count - first};
  return attempt(run, one, error) && attempt(run, other, error);
}

/* A push was in vain because of one of its tables. The others are pushed without it, once it is known which it is. */
static bool attempt_without(struct run *run, struct selection selection, bool is_named, struct error *error) {
  if (is_named)
    return attempt(run, selection, error);
  size_t first;
  if (is_of_one_table(run, selection)) {
    hold_table(run, change_at(run, selection.indexes[0])->capture, error);
    return true;
  }
  return divide(run, selection, BY_TABLE, &first, error) && attempt_both(run, selection, first, error);
}

/* Another session has locked a table or row at the target: whole transactions come again, in the hope that it ends. */
static void wait_for_lock(struct run *run, struct selection *selection, struct verdict *verdicts) {
  for (size_t i = 0; i < selection->count; i++) {
    run->standings[selection->indexes[i]] = STANDING_WAITS;
    verdict_clear(&verdicts[i]);
  }
  run->waiting += selection->count;
  selection->count = 0;
}

/* Pushes the changes of `selection`; on a refusal splits it. */
static bool attempt(struct run *run, struct selection selection, struct error *error) {
  size_t count = 0;
  if (!hold_back(run, selection, error))
    return false;
  for (size_t i = 0; i < selection.count; i++) {
    size_t index = selection.indexes[i];
    if (run->standings[index] != STANDING_GOES)
      continue;
    selection.indexes[count] = index;
    run->changes[count++] = change_at(run, index);
  }
  selection.count = count;
  if (count == 0)
    return true;
  struct verdict *verdicts = calloc(count, sizeof *verdicts);
  if (verdicts == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  bool pushed = run->retry->push(run->retry->context, run->changes, count, verdicts, error);
  if (!pushed && !run->divides && sqlstate_is_lock_wait(error->sqlstate))
    wait_for_lock(run, &selection, verdicts);
  apply_verdicts(run, &selection, verdicts, pushed, error);
  free(verdicts);
  if (pushed || ((error->kind == FAILURE_REFUSED || error->kind == FAILURE_TABLE) && selection.count == 0))
    return true;
  if (error->kind == FAILURE_TABLE)
    return attempt_without(run, selection, selection.count < count, error);
  if (error->kind != FAILURE_REFUSED) {
    for (size_t i = 0; i < selection.count; i++)
      run->outcomes->fates[selection.indexes[i]].unknown = true;
    return false;
  }
  if (run->retry->at_most_once || (selection.count == 1 && count == 1)) {
    for (size_t i = 0; i < selection.count; i++)
      refuse(run, selection.indexes[i], error);
    return true;
  }
  /* The target has said of which changes it refuses: nothing is known of the others, which were not tried without. */
  if (selection.count < count)
    return attempt(run, selection, error);
  if (!run->divides && is_of_one_transaction(run, selection)) {
    for (size_t i = 0; i < selection.count; i++) {
      run->standings[selection.indexes[i]] = STANDING_WAITS;
      run->outcomes->fates[selection.indexes[i]].attempts++;
    }
    run->waiting += selection.count;
    return true;
  }
  size_t first;
  return divide(run, selection, BY_HALVES, &first, error) && attempt_both(run, selection, first, error);
}

/* Collects what waits (or, with `all`, everything that is not decided) and tries it. */
static bool attempt_round(struct run *run, bool all, struct error *error) {
  struct selection selection = {.indexes = run->indexes};
  for (size_t i = 0; i < run->outcomes->batch->count; i++) {
    struct fate *fate = &run->outcomes->fates[i];
    if (all ? fate->outcome == OUTCOME_RETURNED && run->standings[i] != STANDING_GOES_BACK
            : run->standings[i] == STANDING_WAITS) {
      run->standings[i] = STANDING_GOES;
      selection.indexes[selection.count++] = i;
    }
  }
  run->waiting = 0;
  return attempt(run, selection, error);
}

/*
 * The tries are used up. Those that were refused stay so if that is final, and what waits behind them is treated as the
 * target asks. *more tells whether some of it may be pushed now.
 */
static bool end_tries(struct run *run, bool *more, struct error *error) {
  size_t count = run->outcomes->batch->count;
  *more = false;
  if (run->waiting == 0)
    return true;
  bool *goes_back = calloc(count + 1, sizeof *goes_back); /* by the first change of a row: whether some of it does */
  if (goes_back == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  bool ok = read_ties(run, error);
  for (size_t i = 0; ok && i < count; i++) {
    struct fate *fate = &run->outcomes->fates[i];
    size_t row = run->ties.row[i];
    bool final = true;
    goes_back[row] = goes_back[row] || run->standings[i] == STANDING_GOES_BACK;
    if (run->standings[i] != STANDING_WAITS)
      continue;
    if (goes_back[row])
      final = false;
    else if (fate->why != NULL)
      ok = run->retry->is_final(run->retry->context, change_at(run, i), fate->why, &final, error);
    run->standings[i] = ok && !final ? STANDING_GOES_BACK : STANDING_GOES;
    if (!ok)
      break;
    if (!final)
      goes_back[row] = run->some_go_back = true;
    else if (fate->why != NULL)
      fate->outcome = OUTCOME_REFUSED;
    else if (run->outcomes->on_error != ON_ERROR_HALT && outcomes_has_to_wait(run->outcomes, change_at(run, i)))
      fate->outcome = OUTCOME_BLOCKED;
    else if (run->outcomes->on_error == ON_ERROR_PARK)
      *more = true;
  }
  free(goes_back);
  return ok;
}

bool retry_push(const struct retry *retry, struct error *error) {
  size_t count = retry->outcomes->batch->count;
  struct run own = {.retry = retry,
                    .outcomes = retry->outcomes,
                    .standings = calloc(count + 1, sizeof *own.standings),
                    .indexes = calloc(count + 1, sizeof *own.indexes),
                    .changes = calloc(count + 1, sizeof *own.changes)};
  struct run *run = &own;
  bool ok = false;
  if (own.indexes == NULL || own.changes == NULL || own.standings == NULL) {
    error_set(error, FAILURE_RETRY, "out of memory");
    goto done;
  }

  bool all = true;
  int retries = retry->retries;
  for (;;) {
    run->divides = !retry->whole_transactions || retries == 0;
    if (!attempt_round(run, all, error))
      goto done;
    int64_t pause = FIRST_PAUSE;
    for (int n = 0; n < retries && run->waiting > 0 && run->retry->may_retry(run->retry->context); n++) {
      if (!run->retry->pause(run->retry->context, pause)) {
        ok = true; /* what waits goes back to the queue */
        goto done;
      }
      pause = pause < LONGEST_PAUSE / 2 ? 2 * pause : LONGEST_PAUSE;
      run->divides = !retry->whole_transactions || n + 1 == retries;
      if (!attempt_round(run, false, error))
        goto done;
    }
    if (run->waiting > 0 && !run->divides) { /* there is no time for all tries */
      run->divides = true;
      if (!attempt_round(run, false, error))
        goto done;
    }
    bool more;
    if (!end_tries(run, &more, error))
      goto done;
    if (!more)
      break;
    /* What stood behind is tried once; its row has had its tries. */
    all = true;
    retries = 0;
  }
  ok = true;

done:
  free(own.indexes);
  free(own.changes);
  free(own.standings);
  ties_release(&own.ties);
  return ok;
}
