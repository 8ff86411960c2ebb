/* Whether a process delivers a backlog. */
#include <criterion/criterion.h>

#include "delivery/backlog.h"

Test(backlog, it_is_there_while_claims_begin_far_from_the_newest_change) {
  struct backlog backlog = {0};
  cr_assert_not(backlog_is_there(&backlog));
  backlog_claimed(&backlog, 5000, 14999);
  cr_assert_not(backlog_is_there(&backlog));
  backlog_claimed(&backlog, 5000, 0);
  cr_assert_not(backlog_is_there(&backlog), "the newest change is not known");
  backlog_claimed(&backlog, 5000, 15000);
  cr_assert(backlog_is_there(&backlog));
  backlog_claimed(&backlog, 14990, 15000);
  cr_assert(backlog_is_there(&backlog), "another claim");
  atomic_fetch_sub(&backlog.seen_at, 1000);
  cr_assert_not(backlog_is_there(&backlog), "no claim has shown it for a second");
}
