/* What a server's code says of who is at fault. */
#include <criterion/criterion.h>

#include "postgres/sqlstate.h"

struct expected {
  const char *code;
  enum failure failure;
};

Test(sqlstate, says_who_is_at_fault) {
  static const struct expected CASES[] = {
      {"23505", FAILURE_REFUSED},                           /* a value that is there already */
      {"23514", FAILURE_REFUSED},                           /* a check */
      {"22001", FAILURE_REFUSED},                           /* a text that is too long */
      {"P0001", FAILURE_REFUSED},                           /* a trigger of the target raised it */
      {"40001", FAILURE_RETRY},                             /* the transaction met another */
      {"40P01", FAILURE_RETRY},   {"53300", FAILURE_RETRY}, /* too many connections */
      {"53100", FAILURE_RETRY},                             /* the disk is full */
      {"57P01", FAILURE_RETRY},                             /* an administrator ended it */
      {"57P03", FAILURE_RETRY},                             /* the server starts */
      {"08006", FAILURE_RETRY},                             /* the connection broke */
  };
  for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++)
    cr_expect_eq(sqlstate_failure(CASES[i].code), CASES[i].failure, "%s is %d", CASES[i].code,
                 sqlstate_failure(CASES[i].code));
}

Test(sqlstate, tells_what_is_wrong_with_one_table_only) {
  static const char *const OF_A_TABLE[] = {"42P01", "42703", "42501", "55P03", "58030", "53200"};
  static const char *const NOT[] = {"23505", "57P01", "40001", "08006", "53100", "53300", ""};
  for (size_t i = 0; i < sizeof OF_A_TABLE / sizeof OF_A_TABLE[0]; i++)
    cr_expect(sqlstate_is_of_a_table(OF_A_TABLE[i]), "%s", OF_A_TABLE[i]);
  for (size_t i = 0; i < sizeof NOT / sizeof NOT[0]; i++)
    cr_expect_not(sqlstate_is_of_a_table(NOT[i]), "%s", NOT[i]);
}
