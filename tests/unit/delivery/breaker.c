#include <criterion/criterion.h>

#include "delivery/breaker.h"

Test(breaker, who_may_not_try_asks_again_when_it_is_due_and_within_a_second) {
  cr_assert_eq(breaker_wait(1), 1);
  cr_assert_eq(breaker_wait(700), 700);
  cr_assert_eq(breaker_wait(1000), 1000);
  cr_assert_eq(breaker_wait(3600000), 1000);
}

/* 0 is what says that the target is well. */
Test(breaker, while_another_tries_it_is_asked_again_soon) {
  cr_assert_eq(breaker_wait(0), 200);
  cr_assert_eq(breaker_wait(-5000), 200);
}
