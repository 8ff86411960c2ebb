/* When refused changes are told of in the log. Times are in milliseconds. */
#include <criterion/criterion.h>

#include "delivery/refusal_log.h"

#define MINUTE 60000

Test(refusal_log, a_group_is_told_of_once_a_minute_with_how_many_there_were) {
  size_t untold;
  cr_assert(refusal_log_is_to_tell(7, 3, 1000, &untold));
  cr_assert_eq(untold, 0);
  cr_assert_not(refusal_log_is_to_tell(7, 1, 1001, &untold));
  cr_assert_not(refusal_log_is_to_tell(7, 10, 1000 + MINUTE - 1, &untold));
  cr_assert(refusal_log_is_to_tell(7, 1, 1000 + MINUTE, &untold));
  cr_assert_eq(untold, 11);
  cr_assert_not(refusal_log_is_to_tell(7, 1, 1001 + MINUTE, &untold));
  cr_assert(refusal_log_is_to_tell(7, 1, 1000 + 2 * MINUTE, &untold));
  cr_assert_eq(untold, 1);
}

Test(refusal_log, each_group_is_told_of_by_itself) {
  size_t untold;
  cr_assert(refusal_log_is_to_tell(7, 1, 1000, &untold));
  cr_assert(refusal_log_is_to_tell(8, 1, 1000, &untold));
  cr_assert_not(refusal_log_is_to_tell(7, 1, 1001, &untold));
  cr_assert_not(refusal_log_is_to_tell(8, 1, 1001, &untold));
}

Test(refusal_log, of_very_many_groups_the_one_told_first_is_forgotten) {
  size_t untold;
  for (uint64_t group = 1; group <= 256; group++)
    cr_assert(refusal_log_is_to_tell(group, 1, 1000 + (int64_t)group, &untold));
  cr_assert(refusal_log_is_to_tell(1000, 1, 2000, &untold));
  cr_assert_not(refusal_log_is_to_tell(2, 1, 2000, &untold));
  cr_assert(refusal_log_is_to_tell(1, 1, 2000, &untold));
  cr_assert_eq(untold, 0);
}
