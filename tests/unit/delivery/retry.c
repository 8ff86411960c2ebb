/* A delivery to a target that is made up here: it keeps what it gets, and refuses what it is told to. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "delivery/retry.h"

#define MOST 4000

static struct change changes[MOST];
static struct batch batch;
static struct outcomes outcomes;
static struct retry retry;
static struct error error;

/* What the target does; changes are called by their index. */
static int refusals_left[MOST]; /* how often it refuses the change; -1: for ever */
static long needs[MOST];        /* the change is refused as long as this one is not there; -1: none */
static int unfit;               /* the capture whose table it cannot take; 0: it takes all */
static bool names_unfit;        /* and it says which that is */
static bool names_refused;      /* it says which changes it refuses, and looks at none of the others then */
static size_t fails_at;         /* the number of the push that fails because of the target; 0: none */

/* What it has seen. */
static size_t arrived[MOST]; /* indexes, in order of arrival */
static size_t arrived_count;
static size_t push_count;
static size_t pause_count;
static int64_t paused;    /* milliseconds */
static int64_t patience;  /* after pauses of so many there are no more retries */
static bool hurry;        /* there is no time for a pause */
static bool more_to_come; /* a refusal is not final */
static bool source_away;  /* nobody can say whether it is */

static bool has_arrived(size_t index) {
  for (size_t i = 0; i < arrived_count; i++)
    if (arrived[i] == index)
      return true;
  return false;
}

static size_t index_of(const struct change *change) {
  return (size_t)(change - changes);
}

static bool fake_push(void *context, const struct change *const *pushed, size_t count, struct verdict *verdicts,
                      struct error *why) {
  cr_assert_eq(context, &batch);
  cr_assert(count > 0);
  push_count++;
  for (size_t i = 1; i < count; i++)
    cr_assert(pushed[i - 1]->id < pushed[i]->id, "a push is not in order");
  if (push_count == fails_at)
    return error_set(why, FAILURE_RETRY, "the target is away");
  bool lacks_table = false;
  for (size_t i = 0; i < count; i++)
    if (unfit != 0 && pushed[i]->capture == unfit) {
      lacks_table = true;
      verdicts[i].kind = names_unfit ? VERDICT_HELD : VERDICT_NONE;
    }
  if (lacks_table)
    return error_set(why, FAILURE_TABLE, "no table");
  bool any_refused = false;
  for (size_t i = 0; names_refused && i < count; i++) {
    if (refusals_left[index_of(pushed[i])] == 0)
      continue;
    any_refused = true;
    error_set(why, FAILURE_REFUSED, "no %lld", (long long)pushed[i]->id);
    verdict_refuse(&verdicts[i], why);
  }
  if (any_refused)
    return false;
  for (size_t i = 0; i < count; i++) {
    size_t index = index_of(pushed[i]);
    bool lacks = needs[index] >= 0 && !has_arrived((size_t)needs[index]);
    for (size_t before = 0; lacks && before < i; before++)
      lacks = (long)index_of(pushed[before]) != needs[index];
    if (refusals_left[index] == 0 && !lacks)
      continue;
    /* It is only the one at fault that the target counts, and only when it is alone that it is sure to be that. */
    if (count == 1 && refusals_left[index] > 0)
      refusals_left[index]--;
    error_set(why, FAILURE_REFUSED, "no %lld", (long long)pushed[i]->id);
    snprintf(why->sqlstate, sizeof why->sqlstate, "23514");
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    cr_assert_not(has_arrived(index_of(pushed[i])), "change %lld came twice", (long long)pushed[i]->id);
    arrived[arrived_count++] = index_of(pushed[i]);
  }
  return true;
}

static bool fake_may_retry(void *context) {
  cr_assert_eq(context, &batch);
  return paused < patience;
}

static bool fake_pause(void *context, int64_t milliseconds) {
  cr_assert_eq(context, &batch);
  pause_count++;
  paused += milliseconds;
  return !hurry;
}

static bool fake_is_final(void *context, const struct change *change, const struct error *why, bool *final,
                          struct error *failure) {
  cr_assert_eq(context, &batch);
  cr_assert_eq(outcomes.fates[index_of(change)].why, why);
  *final = !more_to_come;
  return !source_away || error_set(failure, FAILURE_RETRY, "the source is away");
}

/* A batch of changes with these keys, one letter each; "." is a row of a table without a key. */
static void begin(const char *keys) {
  static char texts[256][2];
  size_t count = strlen(keys);
  for (size_t i = 0; i < count; i++) {
    char *key = texts[(unsigned char)keys[i]];
    key[0] = keys[i];
    changes[i] = (struct change){.id = 10 * (int64_t)i + 10, .capture = 1, .key = keys[i] == '.' ? NULL : key};
    needs[i] = -1;
  }
  patience = INT64_MAX;
  batch = (struct batch){.changes = changes, .count = count};
  retry = (struct retry){.outcomes = &outcomes,
                         .retries = 3,
                         .push = fake_push,
                         .may_retry = fake_may_retry,
                         .pause = fake_pause,
                         .is_final = fake_is_final,
                         .context = &batch};
  cr_assert(outcomes_begin(&outcomes, &batch, ON_ERROR_PARK, &error));
}

static void end(void) {
  outcomes_release(&outcomes);
}

/* One letter for each change: delivered, refused, blocked, held, returned. */
static const char *fates(void) {
  static char text[MOST + 1];
  for (size_t i = 0; i < batch.count; i++)
    switch (outcomes.fates[i].outcome) {
    case OUTCOME_DELIVERED:
      text[i] = 'd';
      break;
    case OUTCOME_REFUSED:
      text[i] = 'r';
      break;
    case OUTCOME_BLOCKED:
      text[i] = 'b';
      break;
    case OUTCOME_HELD:
      text[i] = 'h';
      break;
    case OUTCOME_RETURNED:
      text[i] = '-';
      break;
    }
  text[batch.count] = '\0';
  return text;
}

/* Keys in the order of their arrival. */
static const char *arrivals(void) {
  static char text[MOST + 1];
  for (size_t i = 0; i < arrived_count; i++)
    text[i] = changes[arrived[i]].key != NULL ? changes[arrived[i]].key[0] : '.';
  text[arrived_count] = '\0';
  return text;
}

/* Of each row, an older change must not arrive after a newer one. */
static void assert_in_order(void) {
  for (size_t i = 0; i < arrived_count; i++)
    for (size_t later = i + 1; later < arrived_count; later++)
      cr_assert(arrived[i] < arrived[later] || !change_same_row(&changes[arrived[i]], &changes[arrived[later]]),
                "change %zu arrived after change %zu of its row", arrived[later], arrived[i]);
}

TestSuite(retry, .fini = end);

Test(retry, all_goes_in_one_push) {
  begin("abcabc");
  cr_assert(retry_push(&retry, &error));
  cr_assert_str_eq(fates(), "dddddd");
  cr_assert_str_eq(arrivals(), "abcabc");
  cr_assert_eq(push_count, 1);
  cr_assert_eq(pause_count, 0);
}

Test(retry, an_empty_batch_is_not_pushed) {
  begin("");
  cr_assert(retry_push(&retry, &error));
  cr_assert_eq(push_count, 0);
}

Test(retry, a_refused_change_is_found_and_its_neighbours_arrive) {
  begin("abcdefgh");
  refusals_left[5] = -1;
  cr_assert(retry_push(&retry, &error));
  cr_assert_str_eq(fates(), "dddddrdd");
  cr_assert_str_eq(arrivals(), "abcdegh");
  cr_assert_eq(outcomes_count(&outcomes, OUTCOME_REFUSED), 1);
}

Test(retry, the_only_neighbour_of_what_a_target_names_as_refused_arrives) {
  for (int whole = 0; whole < 2; whole++) {
    arrived_count = 0;
    begin("abc");
    for (size_t i = 0; i < 3; i++)
      changes[i].txid = "7";
    names_refused = true;
    retry.whole_transactions = whole != 0;
    refusals_left[0] = refusals_left[2] = -1;
    cr_assert(retry_push(&retry, &error));
    cr_assert_str_eq(fates(), "rdr");
    cr_assert_str_eq(arrivals(), "b");
    cr_assert_str_eq(outcomes.fates[0].why->message, "no 10");
    if (whole == 0)
      end();
  }
}

Test(retry, the_targets_words_stay_with_the_refused_change) {
  begin("abc");
  refusals_left[1] = -1;
  cr_assert(retry_push(&retry, &error));
  cr_assert_str_eq(outcomes.fates[1].why->message, "no 20");
  cr_assert_str_eq(outcomes.fates[1].why->sqlstate, "23514");
  cr_assert_null(outcomes.fates[0].why);
  cr_assert_null(outcomes.fates[2].why);
}

Test(retry, a_change_is_tried_once_and_then_as_often_as_retries_say) {
  begin("abcd");
  retry.retries = 4;
  refusals_left[2] = -1;
  cr_assert(retry_push(&retry, &error));
  cr_assert_eq(outcomes.fates[2].attempts, 5);
  cr_assert_eq(pause_count, 4);
}

Test(retry, without_retries_it_is_tried_once) {
  begin("ab");
  retry.retries = 0;
  refusals_left[0] = -1;
  cr_assert(retry_push(&retry, &error));
  cr_assert_str_eq(fates(), "rd");
  cr_assert_eq(outcomes.fates[0].attempts, 1);
  cr_assert_eq(pause_count, 0);
}

Test(retry, pauses_grow_up_to_a_second) {
  begin("a");
  retry.retries = 20;
  refusals_left[0] = -1;
  cr_assert(retry_push(&retry, &error));
  cr_assert_eq(paused, 25 + 50 + 100 + 200 + 400 + 800 + 14 * 1000);
}

Test(retry, pauses_stay_a_second_however_many_there_are) {
  begin("a");
  retry.retries = 1000;
  refusals_left[0] = -1;
  cr_assert(retry_push(&retry, &error));
  cr_assert_eq(outcomes.fates[0].attempts, 1001);
  cr_assert_eq(paused, 25 + 50 + 100 + 200 + 400 + 800 + 994 * 1000);
}

Test(retry, a_change_that_is_tried_for_too_long_has_had_its_tries) {
  begin("aba");
  retry.retries = 1000;
  patience = 10000;
  refusals_left[0] = -1;
  cr_assert(retry_push(&retry, &error));
  cr_assert_str_eq(fates(), "rdd");
  cr_assert_eq(paused, 25 + 50 + 100 + 200 + 400 + 800 + 9 * 1000);
}

Test(retry, what_was_refused_only_for_a_while_arrives) {
  begin("abcde");
  refusals_left[1] = 3;
  cr_assert(retry_push(&retry, &error));
  cr_assert_str_eq(fates(), "ddddd");
  cr_assert_str_eq(arrivals(), "acdeb");
}

Test(retry, a_change_that_needs_a_later_one_arrives_after_it) {
  begin("abcd");
  needs[0] = 3;
  cr_assert(retry_push(&retry, &error));
  cr_assert_str_eq(fates(), "dddd");
  cr_assert_str_eq(arrivals(), "bcda");
}

Test(retry, a_chain_of_needs_is_resolved) {
  begin("abcd");
  needs[2] = 3;
  needs[1] = 2;
  needs[0] = 1;
  retry.retries = 3;
  cr_assert(retry_push(&retry, &error));
  cr_assert_str_eq(fates(), "dddd");
  cr_assert_str_eq(arrivals(), "dcba");
}

Test(retry, later_changes_of_a_row_wait_for_the_one_that_is_tried_again) {
  begin("abacadb");
  refusals_left[0] = 2;
  cr_assert(retry_push(&retry, &error));
  cr_assert_str_eq(fates(), "ddddddd");
  assert_in_order();
  cr_assert_str_eq(arrivals(), "bcdbaaa");
}

Test(retry, parked_later_changes_of_a_row_go_on_after_the_last_try) {
  begin("abacada");
  refusals_left[2] = -1;
  cr_assert(retry_push(&retry, &error));
  cr_assert_str_eq(fates(), "ddrdddd");
  assert_in_order();
}

Test(retry, parked_changes_that_are_refused_too_are_tried_once) {
  begin("aaa");
  refusals_left[0] = -1;
  refusals_left[1] = -1;
  cr_assert(retry_push(&retry, &error));
  cr_assert_str_eq(fates(), "rrd");
  cr_assert_eq(outcomes.fates[0].attempts, 4);
  cr_assert_eq(outcomes.fates[1].attempts, 1);
}

Test(retry, blocked_later_changes_of_a_row_wait) {
  begin("abacab");
  outcomes.on_error = ON_ERROR_BLOCK;
  refusals_left[2] = -1;
  cr_assert(retry_push(&retry, &error));
  cr_assert_str_eq(fates(), "ddrdbd");
  cr_assert_eq(outcomes.fates[4].attempts, 0);
}

Test(retry, rows_of_a_table_without_a_key_wait_for_each_other) {
  begin("..a.");
  outcomes.on_error = ON_ERROR_BLOCK;
  refusals_left[1] = -1;
  cr_assert(retry_push(&retry, &error));
  cr_assert_str_eq(fates(), "drdb");
}

Test(retry, rows_of_a_table_without_a_key_wait_for_each_other_in_a_mirror_whatever_is_asked_for) {
  begin("..a.");
  outcomes.keeps_state = true;
  refusals_left[1] = -1;
  cr_assert(retry_push(&retry, &error));
  cr_assert_str_eq(fates(), "drdb");
}

Test(retry, rows_of_a_table_without_a_key_go_on_where_every_change_is_kept) {
  begin("..a.");
  refusals_left[1] = -1;
  cr_assert(retry_push(&retry, &error));
  cr_assert_str_eq(fates(), "drdd");
}

Test(retry, a_halt_leaves_later_changes_of_the_row_in_the_queue) {
  begin("abacab");
  outcomes.on_error = ON_ERROR_HALT;
  refusals_left[2] = -1;
  cr_assert(retry_push(&retry, &error));
  cr_assert_str_eq(fates(), "ddrd-d");
}

Test(retry, what_was_decided_before_is_not_pushed) {
  begin("abc");
  outcomes_decide(&outcomes, 0, OUTCOME_BLOCKED, NULL);
  outcomes_decide(&outcomes, 2, OUTCOME_REFUSED, NULL);
  cr_assert(retry_push(&retry, &error));
  cr_assert_str_eq(fates(), "bdr");
  cr_assert_str_eq(arrivals(), "b");
}

Test(retry, a_failing_target_keeps_what_it_has_and_the_rest_goes_back) {
  begin("abcdefgh");
  refusals_left[5] = -1;
  fails_at = 4; /* abcdefgh no, abcd yes, efgh no, ef fails */
  cr_assert_not(retry_push(&retry, &error));
  cr_assert_eq(error.kind, FAILURE_RETRY);
  cr_assert_str_eq(error.message, "the target is away");
  cr_assert_str_eq(fates(), "dddd----");
}

Test(retry, a_target_that_fails_at_once_counts_no_attempt) {
  begin("ab");
  fails_at = 1;
  cr_assert_not(retry_push(&retry, &error));
  cr_assert_str_eq(fates(), "--");
  cr_assert_eq(outcomes.fates[0].attempts, 0);
}

Test(retry, a_target_that_fails_during_a_retry_leaves_the_refused_change_in_the_queue) {
  begin("ab");
  refusals_left[0] = -1;
  fails_at = 4; /* ab no, a no, b yes, a fails */
  cr_assert_not(retry_push(&retry, &error));
  cr_assert_str_eq(fates(), "-d");
}

Test(retry, without_time_for_a_retry_what_waits_goes_back) {
  begin("aba");
  hurry = true;
  refusals_left[0] = -1;
  cr_assert(retry_push(&retry, &error));
  cr_assert_str_eq(fates(), "-d-");
  cr_assert_eq(pause_count, 1);
}

Test(retry, a_refusal_that_is_not_final_goes_back_and_what_stands_behind_it_too) {
  static const enum on_error ways[] = {ON_ERROR_PARK, ON_ERROR_BLOCK, ON_ERROR_HALT};
  for (size_t i = 0; i < 3; i++) {
    begin("abacadb");
    arrived_count = 0;
    more_to_come = true;
    outcomes.on_error = ways[i];
    refusals_left[2] = -1;
    cr_assert(retry_push(&retry, &error));
    cr_assert_str_eq(fates(), "dd-d-dd");
    if (i < 2)
      end();
  }
}

Test(retry, when_nobody_knows_whether_it_is_final_it_goes_back) {
  begin("aba");
  source_away = true;
  refusals_left[0] = -1;
  cr_assert_not(retry_push(&retry, &error));
  cr_assert_str_eq(error.message, "the source is away");
  cr_assert_str_eq(fates(), "-d-");
}

Test(retry, one_among_two_thousand_costs_few_pushes) {
  char keys[2001];
  memset(keys, '.', 2000);
  keys[2000] = '\0';
  begin(keys);
  for (size_t i = 0; i < 2000; i++)
    changes[i].capture = (int)i; /* each a row of its own */
  refusals_left[1234] = -1;
  cr_assert(retry_push(&retry, &error));
  cr_assert_eq(outcomes_count(&outcomes, OUTCOME_DELIVERED), 1999);
  cr_assert_eq(outcomes_count(&outcomes, OUTCOME_REFUSED), 1);
  cr_assert(push_count < 30, "%zu pushes", push_count);
}

/* Transaction n changes row n, then row n - 1, which the one before it has changed, too: all depend on the first. */
Test(retry, whole_transactions_wait_behind_each_other_however_many_they_are) {
  static char keys[MOST + 1];
  static char texts[MOST][12];
  memset(keys, 'x', MOST);
  begin(keys);
  for (int i = 0; i < MOST; i++) {
    snprintf(texts[i], sizeof texts[i], "%d", i / 2 - i % 2);
    changes[i].key = texts[i];
    changes[i].txid = texts[i - i % 2];
  }
  retry.whole_transactions = true;
  refusals_left[0] = -1;
  cr_assert(retry_push(&retry, &error));
  cr_assert_eq(outcomes_count(&outcomes, OUTCOME_REFUSED), 1);
  cr_assert_eq(arrived_count, MOST - 1);
}

/* Capital letters are rows of another table, which the target cannot take. */
static void begin_unfit(const char *keys, bool named) {
  begin(keys);
  for (size_t i = 0; i < batch.count; i++)
    changes[i].capture = keys[i] >= 'A' && keys[i] <= 'Z' ? 2 : 1;
  unfit = 2;
  names_unfit = named;
}

Test(retry, a_table_that_the_target_cannot_take_is_held_and_the_others_arrive) {
  for (int named = 0; named < 2; named++) {
    arrived_count = push_count = 0;
    begin_unfit("aAbBAc", named != 0);
    cr_assert(retry_push(&retry, &error));
    cr_assert_str_eq(fates(), "dhdhhd");
    cr_assert_str_eq(arrivals(), "abc");
    cr_assert(push_count <= 3, "%zu pushes", push_count);
    cr_assert_str_eq(outcomes.fates[1].why->message, "no table");
    cr_assert_null(outcomes.fates[3].why);
    cr_assert_eq(outcomes.fates[1].attempts, 0);
    if (named == 0)
      end();
  }
}

Test(retry, what_was_refused_of_a_table_that_is_held_then_is_held_too) {
  begin_unfit("aAaAb", true);
  unfit = 0;
  refusals_left[1] = 1;
  /* After the split the change is alone, then it waits; in the second round the table is gone. */
  outcomes_decide(&outcomes, 3, OUTCOME_BLOCKED, NULL);
  unfit = 2;
  cr_assert(retry_push(&retry, &error));
  cr_assert_str_eq(fates(), "dhdbd");
}

Test(retry, order_holds_whatever_is_refused) {
  for (unsigned int seed = 1; seed <= 200; seed++) {
    char keys[101];
    srandom(seed);
    for (size_t i = 0; i < 100; i++)
      keys[i] = (char)('a' + random() % 12);
    keys[100] = '\0';
    begin(keys);
    arrived_count = 0;
    memset(refusals_left, 0, sizeof refusals_left);
    outcomes.on_error = (enum on_error)(random() % 3);
    for (int n = 0; n < 10; n++)
      refusals_left[random() % 100] = (int)(random() % 6) - 1;
    for (int n = 0; n < 5; n++)
      needs[random() % 100] = random() % 100;
    cr_assert(retry_push(&retry, &error));
    assert_in_order();
    cr_assert_eq(outcomes_count(&outcomes, OUTCOME_DELIVERED), arrived_count);
    for (size_t i = 0; i < 100; i++) {
      enum outcome outcome = outcomes.fates[i].outcome;
      cr_assert_eq(outcome == OUTCOME_DELIVERED, has_arrived(i));
      cr_assert(outcome != OUTCOME_REFUSED || outcomes.fates[i].why != NULL);
      /* Only those that stand behind a refused change of their row do anything but arrive or be refused. */
      bool behind = false;
      for (size_t before = 0; before < i; before++)
        behind = behind ||
                 (outcomes.fates[before].outcome == OUTCOME_REFUSED && change_same_row(&changes[before], &changes[i]));
      cr_assert((outcome != OUTCOME_BLOCKED && outcome != OUTCOME_RETURNED) || behind, "seed %u, change %zu", seed, i);
      cr_assert(outcomes.on_error == ON_ERROR_PARK || !behind || outcome != OUTCOME_DELIVERED, "seed %u, change %zu",
                seed, i);
    }
    if (seed < 200)
      end();
  }
}
