/* What a claim has applied and may come again. */
#include <criterion/criterion.h>

#include "targets/fence.h"

static struct fence fence;
static struct error error;

static void begin(void) {
  fence_init(&fence);
}

static void end(void) {
  fence_release(&fence);
}

TestSuite(fence, .init = begin, .fini = end);

static void add(const char *literal) {
  cr_assert(fence_add(&fence, literal, &error), "%s", error.message);
  fence_order(&fence);
}

Test(fence, at_first_nothing_was_applied) {
  cr_assert_not(fence_has(&fence, 0));
  add("{}");
  cr_assert_eq(fence.count, 0);
  cr_assert_not(fence_has(&fence, 1));
}

Test(fence, it_knows_the_changes_of_all_lanes_in_whatever_order) {
  add("{30,7,9223372036854775807}");
  add("{}");
  add("{8}");
  cr_assert_eq(fence.count, 4);
  cr_assert(fence_has(&fence, 7) && fence_has(&fence, 8) && fence_has(&fence, 30));
  cr_assert(fence_has(&fence, INT64_MAX));
  cr_assert_not(fence_has(&fence, 6) || fence_has(&fence, 9) || fence_has(&fence, 31));
}

Test(fence, it_knows_a_single_change) {
  add("{5}");
  cr_assert(fence_has(&fence, 5));
  cr_assert_not(fence_has(&fence, 4));
}

Test(fence, it_has_room_for_many) {
  char literal[32];
  for (int id = 999; id >= 0; id--) {
    snprintf(literal, sizeof literal, "{%d,%d}", 2 * id, 5000 + id);
    cr_assert(fence_add(&fence, literal, &error));
  }
  fence_order(&fence);
  cr_assert_eq(fence.count, 2000);
  for (int id = 0; id < 1000; id++)
    cr_assert(fence_has(&fence, 2 * id) && !fence_has(&fence, 2 * id + 1) && fence_has(&fence, 5000 + id));
}
