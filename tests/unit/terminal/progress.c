#include "terminal/progress.h"

#include <criterion/criterion.h>
#include <stdint.h>

Test(progress, numbers_are_grouped_by_thousands) {
  char text[PROGRESS_NUMBER_SIZE];
  cr_expect_str_eq(progress_number(text, 0), "0");
  cr_expect_str_eq(progress_number(text, 999), "999");
  cr_expect_str_eq(progress_number(text, 1000), "1,000");
  cr_expect_str_eq(progress_number(text, 12345678), "12,345,678");
  cr_expect_str_eq(progress_number(text, -100000), "-100,000");
  cr_expect_str_eq(progress_number(text, INT64_MAX), "9,223,372,036,854,775,807");
}
