/* What is written down of a batch that was delivered: a receipt for each kind of outcome. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "queue/outcome.h"
#include "queue/receipts.h"

#define MOST 1000

static struct change changes[MOST];
static struct batch batch = {.changes = changes};
static struct outcomes outcomes;
static struct error error;

static void begin(size_t count) {
  batch.count = count;
  for (size_t i = 0; i < count; i++)
    changes[i] = (struct change){.id = 100 + (int64_t)i};
  cr_assert(outcomes_begin(&outcomes, &batch, ON_ERROR_PARK, &error));
}

static void decide(size_t index, enum outcome outcome, int attempts, const char *answer) {
  outcomes_decide(&outcomes, index, outcome, NULL);
  outcomes.fates[index].attempts = attempts;
  snprintf(outcomes.fates[index].answer, sizeof outcomes.fates[index].answer, "%s", answer);
}

/* The list as JSON, which the caller releases. */
static json_t *receipts(void) {
  struct receipts made = {.parts = NULL};
  struct buffer list;
  json_error_t why;
  buffer_init(&list, 1 << 20);
  cr_assert(receipts_collect(&made, &outcomes, &error));
  receipts_add_json(&made, &list);
  json_t *read = json_loads(list.data, 0, &why);
  cr_assert_not_null(read, "%s in %s", why.text, list.data);
  receipts_release(&made);
  buffer_release(&list);
  return read;
}

static const char *text(json_t *list, size_t index, const char *name) {
  return json_string_value(json_object_get(json_array_get(list, index), name));
}

static json_int_t number_of(json_t *list, size_t index, const char *name) {
  return json_integer_value(json_object_get(json_array_get(list, index), name));
}

Test(receipts, of_a_batch_that_arrived_there_is_one) {
  begin(3);
  for (size_t i = 0; i < 3; i++)
    decide(i, OUTCOME_DELIVERED, 1, "");
  json_t *list = receipts();
  cr_assert_eq(json_array_size(list), 1);
  cr_assert_str_eq(text(list, 0, "outcome"), "delivered");
  cr_assert_str_eq(text(list, 0, "ids"), "{100,101,102}");
  cr_assert(json_is_null(json_object_get(json_array_get(list, 0), "answer")));
  cr_assert_eq(number_of(list, 0, "first_id"), 100);
  cr_assert_eq(number_of(list, 0, "last_id"), 102);
  json_decref(list);
  outcomes_release(&outcomes);
}

Test(receipts, each_outcome_number_of_attempts_and_answer_has_its_own) {
  begin(6);
  decide(0, OUTCOME_DELIVERED, 1, "204 No Content");
  decide(1, OUTCOME_DELIVERED, 2, "204 No Content");
  decide(2, OUTCOME_REFUSED, 2, "");
  decide(3, OUTCOME_DELIVERED, 1, "200 \"OK\"");
  decide(4, OUTCOME_DELIVERED, 1, "204 No Content");
  decide(5, OUTCOME_REFUSED, 2, "");
  json_t *list = receipts();
  cr_assert_eq(json_array_size(list), 4);
  cr_assert_str_eq(text(list, 0, "ids"), "{100,104}");
  cr_assert_eq(number_of(list, 0, "last_id"), 104);
  cr_assert_str_eq(text(list, 1, "ids"), "{101}");
  cr_assert_str_eq(text(list, 2, "outcome"), "refused");
  cr_assert_str_eq(text(list, 2, "ids"), "{102,105}");
  cr_assert_str_eq(text(list, 3, "answer"), "200 \"OK\"");
  json_decref(list);
  outcomes_release(&outcomes);
}

Test(receipts, what_waits_or_goes_back_is_in_none) {
  begin(3);
  decide(0, OUTCOME_BLOCKED, 0, "");
  decide(1, OUTCOME_HELD, 0, "");
  json_t *list = receipts();
  cr_assert_eq(json_array_size(list), 0);
  json_decref(list);
  outcomes_release(&outcomes);
}

Test(receipts, every_change_is_in_one_and_no_other) {
  srandom(7);
  begin(MOST);
  for (size_t i = 0; i < MOST; i++) {
    char answer[8];
    snprintf(answer, sizeof answer, "%ld", random() % 4);
    decide(i, random() % 2 ? OUTCOME_DELIVERED : OUTCOME_REFUSED, (int)(random() % 3), answer);
  }
  json_t *list = receipts();
  static bool seen[MOST];
  size_t count = 0;
  for (size_t n = 0; n < json_array_size(list); n++)
    for (const char *id = text(list, n, "ids") + 1; *id != '\0'; id += strcspn(id, ",}") + 1) {
      size_t index = (size_t)(strtol(id, NULL, 10) - 100);
      cr_assert(index < MOST && !seen[index]);
      seen[index] = true;
      count++;
    }
  cr_assert_eq(count, MOST);
  json_decref(list);
  outcomes_release(&outcomes);
}

Test(receipts, the_reason_of_an_outcome_is_a_copy_and_the_last_one_stays) {
  begin(1);
  struct error why;
  error_set(&why, FAILURE_REFUSED, "first");
  outcomes_decide(&outcomes, 0, OUTCOME_RETURNED, &why);
  error_set(&why, FAILURE_REFUSED, "second");
  outcomes_decide(&outcomes, 0, OUTCOME_REFUSED, &why);
  error_clear(&why);
  outcomes_decide(&outcomes, 0, OUTCOME_REFUSED, NULL);
  cr_assert_str_eq(outcomes.fates[0].why->message, "second");
  cr_assert_eq(outcomes_count(&outcomes, OUTCOME_REFUSED), 1);
  outcomes_release(&outcomes);
}
