/* What becomes of a batch after it was pushed: every case by name. */
#include <criterion/criterion.h>

#include "delivery/ending.h"

struct expected {
  const char *name;
  struct pushed pushed;
  struct ending ending;
};

#define PUSHED(...)                                                                                                    \
  { .began = true, __VA_ARGS__ }
#define FAILED(kind, ...)                                                                                              \
  { .began = true, .ok = false, .why = (kind), __VA_ARGS__ }

static const struct expected CASES[] = {
    /* changes */
    {"all delivered", PUSHED(.ok = true, .delivered = 3), {.end = BATCH_SETTLE, .counts = true, .shows_health = true}},
    {"some refused",
     PUSHED(.ok = true, .delivered = 2, .refused = 1),
     {.end = BATCH_SETTLE, .counts = true, .shows_health = true}},
    {"all refused, by a target that failed",
     PUSHED(.ok = true, .refused = 1, .failing = true),
     {.end = BATCH_SETTLE, .counts = true, .shows_health = true}},
    {"all held, which says nothing of a target that failed",
     PUSHED(.ok = true, .held = 3, .failing = true),
     {.end = BATCH_SETTLE, .counts = true}},
    {"all held", PUSHED(.ok = true, .held = 3), {.end = BATCH_SETTLE, .counts = true, .shows_health = true}},
    {"all wait for others",
     PUSHED(.ok = true, .returned = 3),
     {.end = BATCH_SETTLE, .counts = true, .shows_health = true, .sequel = SEQUEL_PAUSE}},
    {"all wait for others, and the target failed",
     PUSHED(.ok = true, .returned = 3, .failing = true),
     {.end = BATCH_SETTLE, .counts = true, .sequel = SEQUEL_PAUSE}},
    {"the target fails at once",
     FAILED(FAILURE_RETRY, .returned = 3, .unknown = 3),
     {.end = BATCH_GIVE_BACK, .sequel = SEQUEL_FAILURE}},
    {"the target fails in the middle",
     FAILED(FAILURE_RETRY, .delivered = 1, .returned = 2),
     {.end = BATCH_SETTLE, .counts = true, .sequel = SEQUEL_FAILURE}},
    {"the target fails after a refusal",
     FAILED(FAILURE_FATAL, .refused = 1, .returned = 2),
     {.end = BATCH_SETTLE, .counts = true, .sequel = SEQUEL_FAILURE}},
    {"the target cannot be opened",
     {.ok = false, .why = FAILURE_RETRY},
     {.end = BATCH_GIVE_BACK, .sequel = SEQUEL_FAILURE}},
    {"a deadlock at the target",
     FAILED(FAILURE_RETRY, .is_momentary = true, .returned = 3),
     {.end = BATCH_GIVE_BACK, .sequel = SEQUEL_RANDOM_PAUSE}},
    {"the target wants no more", FAILED(FAILURE_GONE, .returned = 3), {.end = BATCH_GIVE_BACK, .sequel = SEQUEL_HALT}},
    {"told to stop",
     FAILED(FAILURE_STOP, .delivered = 1, .returned = 2),
     {.end = BATCH_GIVE_BACK, .sequel = SEQUEL_LEAVE}},
    {"others have the lanes", FAILED(FAILURE_FENCED, .delivered = 1, .returned = 2), {.end = BATCH_GIVE_BACK}},
    {"others have them again and again", FAILED(FAILURE_FENCED, .returned = 2, .fenced = 4), {.end = BATCH_GIVE_BACK}},
    {"a copy of the source has them",
     FAILED(FAILURE_FENCED, .returned = 2, .fenced = 5),
     {.end = BATCH_GIVE_BACK, .sequel = SEQUEL_HALT}},
    {"the source is lost", FAILED(FAILURE_RETRY, .source_lost = true, .delivered = 3), {.end = BATCH_LOST}},
    {"the source is lost after all was delivered",
     PUSHED(.ok = true, .source_lost = true, .delivered = 3),
     {.end = BATCH_LOST}},
    /* at most once: what may have arrived is never given back */
    {"at most once, delivered",
     PUSHED(.ok = true, .at_most_once = true, .delivered = 3),
     {.end = BATCH_SETTLE, .counts = true, .shows_health = true}},
    {"at most once, without an answer",
     FAILED(FAILURE_RETRY, .at_most_once = true, .returned = 3, .unknown = 3),
     {.end = BATCH_SETTLE, .refuses_unknown = true, .counts = true, .sequel = SEQUEL_FAILURE}},
    {"at most once, not begun",
     FAILED(FAILURE_RETRY, .at_most_once = true, .returned = 3),
     {.end = BATCH_SETTLE, .refuses_unknown = true, .sequel = SEQUEL_FAILURE}},
    {"at most once, told to stop",
     FAILED(FAILURE_STOP, .at_most_once = true, .returned = 3, .unknown = 1),
     {.end = BATCH_SETTLE, .refuses_unknown = true, .counts = true, .sequel = SEQUEL_LEAVE}},
    {"at most once, before there are outcomes",
     {.ok = false, .why = FAILURE_RETRY, .at_most_once = true},
     {.end = BATCH_GIVE_BACK, .sequel = SEQUEL_FAILURE}},
    {"at most once, others have the lanes",
     FAILED(FAILURE_FENCED, .at_most_once = true, .returned = 3, .unknown = 3),
     {.end = BATCH_GIVE_BACK}},
    /* documents: all or nothing */
    {"documents delivered",
     PUSHED(.ok = true, .documents = true, .delivered = 3),
     {.end = BATCH_SETTLE, .counts = true, .shows_health = true}},
    {"no document to build, and the target failed",
     PUSHED(.ok = true, .documents = true, .failing = true),
     {.end = BATCH_SETTLE, .counts = true, .shows_health = true}},
    {"a document has to come later",
     PUSHED(.ok = true, .documents = true, .delivered = 2, .returned = 1),
     {.end = BATCH_GIVE_BACK, .shows_health = true, .sequel = SEQUEL_PAUSE}},
    {"documents fail in the middle",
     FAILED(FAILURE_RETRY, .documents = true, .delivered = 2, .returned = 1),
     {.end = BATCH_GIVE_BACK, .sequel = SEQUEL_FAILURE}},
    {"a query of documents cannot be run",
     {.documents = true, .ok = false, .why = FAILURE_FATAL},
     {.end = BATCH_GIVE_BACK, .sequel = SEQUEL_FAILURE}},
};

Test(ending, of_each_case_is_what_the_table_says) {
  for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
    const struct expected *expected = &CASES[i];
    struct ending ending = ending_of(&expected->pushed);
    cr_expect_eq(ending.end, expected->ending.end, "%s: end %d", expected->name, ending.end);
    cr_expect_eq(ending.refuses_unknown, expected->ending.refuses_unknown, "%s: refuses_unknown", expected->name);
    cr_expect_eq(ending.counts, expected->ending.counts, "%s: counts", expected->name);
    cr_expect_eq(ending.shows_health, expected->ending.shows_health, "%s: shows_health", expected->name);
    cr_expect_eq(ending.sequel, expected->ending.sequel, "%s: sequel %d", expected->name, ending.sequel);
  }
}

/* Whatever happened: nothing is given back that at-most-once delivery may have sent, and what was lost is not settled.
 */
Test(ending, keeps_its_promises_in_every_case) {
  for (unsigned bits = 0; bits < 1u << 6; bits++)
    for (int why = FAILURE_NONE; why <= FAILURE_FATAL; why++)
      for (size_t unknown = 0; unknown < 2; unknown++) {
        struct pushed pushed = {.documents = bits & 1,
                                .at_most_once = bits & 2,
                                .failing = bits & 4,
                                .source_lost = bits & 8,
                                .began = bits & 16,
                                .ok = why == FAILURE_NONE,
                                .why = (enum failure)why,
                                .delivered = bits & 32 ? 1 : 0,
                                .returned = unknown,
                                .unknown = unknown};
        struct ending ending = ending_of(&pushed);
        cr_assert_eq(ending.end == BATCH_LOST, pushed.source_lost);
        if (pushed.at_most_once && pushed.began && why != FAILURE_FENCED && !pushed.source_lost)
          cr_assert_eq(ending.end, BATCH_SETTLE, "bits %u, why %d", bits, why);
        if (pushed.documents && !pushed.at_most_once && (!pushed.ok || pushed.returned > 0))
          cr_assert_neq(ending.end, BATCH_SETTLE, "bits %u, why %d", bits, why);
        if (why == FAILURE_STOP && !pushed.source_lost)
          cr_assert_eq(ending.sequel, SEQUEL_LEAVE);
      }
}

/* How a failure is taken, after so many deadlocks or serialization failures in succession. */
static const struct {
  const char *name;
  enum failure why;
  bool is_momentary;
  int contentions;
  enum failure cause;
} CAUSES[] = {
    {"the first deadlock", FAILURE_RETRY, true, 0, FAILURE_RETRY},
    {"the last that may be by chance", FAILURE_RETRY, true, 9, FAILURE_RETRY},
    {"one too many", FAILURE_RETRY, true, 10, FAILURE_REFUSED},
    {"while a row is looked for", FAILURE_RETRY, true, 255, FAILURE_REFUSED},
    {"another failure after them", FAILURE_RETRY, false, 10, FAILURE_RETRY},
    {"a refusal", FAILURE_REFUSED, false, 0, FAILURE_REFUSED},
    {"lost lanes after them", FAILURE_FENCED, false, 10, FAILURE_FENCED},
};

Test(ending, cause_of_each_failure_is_what_the_table_says) {
  for (size_t i = 0; i < sizeof CAUSES / sizeof CAUSES[0]; i++)
    cr_expect_eq(ending_cause(CAUSES[i].why, CAUSES[i].is_momentary, CAUSES[i].contentions), CAUSES[i].cause, "%s",
                 CAUSES[i].name);
}
