/* How far it is certain that no smaller change id comes any more. */
#include <criterion/criterion.h>
#include <string.h>

#include "source/horizon.h"

static struct horizon horizon;

static void begin(void) {
  horizon_init(&horizon);
}

static void end(void) {
  horizon_release(&horizon);
}

TestSuite(horizon, .init = begin, .fini = end);

/* A look after which the horizon is where it is expected. */
static void look(int64_t last_id, const char *writers, bool remain, int64_t expected) {
  horizon_learn(&horizon, last_id, strdup(writers), remain);
  cr_assert_eq(horizon.id, expected, "%lld", (long long)horizon.id);
}

Test(horizon, where_nobody_writes_it_is_the_last_id) {
  look(10, "{}", false, 10);
  look(20, "{}", false, 20);
}

Test(horizon, a_writer_of_the_first_look_may_commit_any_id) {
  look(10, "{a}", false, 0);
}

Test(horizon, it_stays_as_long_as_one_of_those_writers_is_left) {
  look(10, "{}", false, 10);
  look(20, "{a,b}", false, 10);
  look(30, "{b,c}", true, 10);
  look(40, "{b}", true, 10);
}

Test(horizon, when_they_are_gone_it_is_the_id_of_before_they_were_listed) {
  look(20, "{a,b}", false, 0);
  look(30, "{b,c}", true, 0);
  /* c is younger than 20, and may have got 21 and more: those of the list have ended, so 20 is certain, 40 is not. */
  look(40, "{c}", false, 20);
  look(50, "{c}", true, 20);
  look(60, "{d}", false, 40);
  look(70, "{}", false, 70);
}

Test(horizon, when_the_source_was_lost_nothing_of_before_counts) {
  look(20, "{a}", false, 0);
  horizon_forget(&horizon);
  look(30, "{}", false, 0); /* began before */
  look(35, "{b}", false, 0);
  look(36, "{}", false, 36);
  horizon_forget(&horizon);
  cr_assert_eq(horizon.id, 0);
}
