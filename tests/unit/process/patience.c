/* When a process says that its source is away, or fails, and when it gives up. Times are in milliseconds. */
#include <criterion/criterion.h>
#include <string.h>

#include "process/patience.h"

#define MINUTE 60000

Test(patience, an_absence_is_told_at_once_after_a_minute_and_then_every_ten) {
  struct patience patience = {.wait = 0};
  cr_assert_eq(patience_judge(&patience, 1000), AWAY_IS_NEWS);
  cr_assert_eq(patience_judge(&patience, 1001), AWAY_IS_KNOWN);
  cr_assert_eq(patience_judge(&patience, 1000 + MINUTE - 1), AWAY_IS_KNOWN);
  cr_assert_eq(patience_judge(&patience, 1000 + MINUTE), AWAY_TO_TELL);
  cr_assert_eq(patience_judge(&patience, 1000 + MINUTE + 1), AWAY_IS_KNOWN);
  cr_assert_eq(patience_judge(&patience, 1000 + 11 * MINUTE - 1), AWAY_IS_KNOWN);
  cr_assert_eq(patience_judge(&patience, 1000 + 11 * MINUTE), AWAY_TO_TELL);
}

Test(patience, a_source_that_came_back_and_goes_again_is_news) {
  struct patience patience = {.wait = 5000};
  cr_assert_eq(patience_judge(&patience, 1000), AWAY_IS_NEWS);
  patience_connected(&patience);
  cr_assert_eq(patience_judge(&patience, 9000), AWAY_IS_NEWS);
  cr_assert_eq(patience_judge(&patience, 10000), AWAY_IS_KNOWN, "the time of the first absence does not count");
}

Test(patience, it_gives_up_after_the_wait_and_without_one_never) {
  struct patience patience = {.wait = 5000};
  cr_assert_eq(patience_judge(&patience, 1000), AWAY_IS_NEWS);
  cr_assert_eq(patience_judge(&patience, 5999), AWAY_IS_KNOWN);
  cr_assert_eq(patience_judge(&patience, 6000), AWAY_TOO_LONG);
  struct patience endless = {.wait = 0};
  cr_assert_eq(patience_judge(&endless, 1000), AWAY_IS_NEWS);
  cr_assert_eq(patience_judge(&endless, 1000 + 100000 * (int64_t)MINUTE), AWAY_TO_TELL);
}

Test(patience, a_failure_is_told_once_in_ten_minutes_and_another_after_ten_seconds) {
  struct patience patience = {.wait = 0};
  struct error first;
  struct error second;
  error_set(&first, FAILURE_FATAL, "no right to prune");
  error_set(&second, FAILURE_FATAL, "no right to seal");
  cr_assert(patience_is_to_tell(&patience, &first, 1000));
  cr_assert_not(patience_is_to_tell(&patience, &first, 1000 + 10 * MINUTE - 1));
  cr_assert_not(patience_is_to_tell(&patience, &second, 10999));
  cr_assert(patience_is_to_tell(&patience, &second, 11000));
  cr_assert_not(patience_is_to_tell(&patience, &second, 11001 + 9 * MINUTE));
  cr_assert(patience_is_to_tell(&patience, &second, 11000 + 10 * MINUTE));
}

Test(patience, what_the_source_refuses_is_waited_for_unless_somebody_awaits_the_end) {
  struct error refused;
  struct error unusable;
  struct error wrong;
  struct error away;
  struct error lacking;
  error_set(&refused, FAILURE_FATAL, "database \"shop\" does not exist");
  memcpy(refused.sqlstate, "3D000", sizeof refused.sqlstate);
  error_set(&lacking, FAILURE_FATAL, "permission denied for schema rowrelay");
  memcpy(lacking.sqlstate, "42501", sizeof lacking.sqlstate);
  cr_assert(patience_is_in_vain(false, false, &lacking));
  cr_assert_not(patience_is_in_vain(true, true, &lacking));
  error_set(&unusable, FAILURE_FATAL, "option cacert: cannot read x");
  error_set(&wrong, FAILURE_USAGE, "schema rowrelay is not installed");
  error_set(&away, FAILURE_RETRY, "connection refused");
  cr_assert_not(patience_is_in_vain(false, false, &refused));
  cr_assert(patience_is_in_vain(false, true, &refused));
  cr_assert(patience_is_in_vain(false, false, &unusable));
  for (int i = 0; i < 4; i++) {
    cr_assert(patience_is_in_vain(i & 1, i & 2, &wrong));
    cr_assert_not(patience_is_in_vain(i & 1, i & 2, &away));
  }
  cr_assert_not(patience_is_in_vain(true, true, &refused));
}
