/* How often in succession a lane's batches have met a deadlock. */
#include <criterion/criterion.h>

#include "delivery/contention.h"

static struct contention contention;

Test(contention, of_a_batch_is_that_of_its_worst_lane) {
  contention_count(&contention, (const int[]){4097, 4098}, 2, true);
  contention_count(&contention, (const int[]){4098}, 1, true);
  cr_assert_eq(contention_most(&contention, (const int[]){4097, 4098, 4099}, 3), 2);
  cr_assert_eq(contention_most(&contention, (const int[]){4099}, 1), 0);
  cr_assert_eq(contention_most(&contention, NULL, 0), 0);
}

Test(contention, of_a_lane_ends_with_its_next_success_and_not_with_that_of_another) {
  for (int i = 0; i < 3; i++) {
    contention_count(&contention, (const int[]){8192, 8193}, 2, true);
    contention_count(&contention, (const int[]){8193}, 1, false);
  }
  cr_assert_eq(contention_most(&contention, (const int[]){8192}, 1), 3);
  cr_assert_eq(contention_most(&contention, (const int[]){8193}, 1), 0);
}

Test(contention, count_has_an_end) {
  for (int i = 0; i < 1000; i++)
    contention_count(&contention, (const int[]){12287}, 1, true);
  cr_assert_eq(contention_most(&contention, (const int[]){12287}, 1), 255);
}

Test(contention, is_told_by_the_code) {
  static const struct {
    struct error error;
    bool is;
  } cases[] = {{{.sqlstate = "40001"}, true},
               {{.sqlstate = "40P01"}, true},
               {{.sqlstate = "23505"}, false},
               {{.sqlstate = "404"}, false}, /* of HTTP */
               {{.sqlstate = ""}, false}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    cr_expect_eq(contention_is(&cases[i].error), cases[i].is, "%s", cases[i].error.sqlstate);
}
