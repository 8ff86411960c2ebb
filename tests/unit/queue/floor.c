/* From where the lanes of a target are looked through. */
#include <criterion/criterion.h>
#include <pthread.h>

#include "queue/floor.h"

static struct floor level;
static struct starts starts;
static struct error error;

static void begin(void) {
  floor_init(&level);
  starts_init(&starts, 1 << 20);
}

static void end(void) {
  floor_release(&level);
  starts_release(&starts);
}

TestSuite(floor, .init = begin, .fini = end);

static const struct lanes FOUR = {.first = 4096, .count = 4, .live = 3};

Test(floor, before_it_is_started_nobody_can_read_it) {
  int64_t id;
  int version = -1;
  cr_assert_not(floor_write(&level, 0, NULL, 0, &starts));
  cr_assert_not(floor_read(&level, 0, 4096, &id));
  cr_assert_eq(floor_lowest(&level, &version), 0);
  cr_assert_eq(version, 0);
}

Test(floor, all_lanes_begin_at_what_is_stored) {
  cr_assert(floor_start(&level, 1, FOUR, 77, &error));
  cr_assert(floor_write(&level, 1, NULL, 0, &starts));
  cr_assert_str_eq(starts.lanes.data, "{4096,4097,4098,4099}");
  cr_assert_str_eq(starts.floors.data, "{77,77,77,77}");
}

Test(floor, chosen_lanes_are_written_with_their_own_floors) {
  cr_assert(floor_start(&level, 1, FOUR, 5, &error));
  floor_raise(&level, 1, 4097, 9);
  floor_raise(&level, 1, 4099, 8);
  cr_assert(floor_write(&level, 1, (const int[]){4099, 4096}, 2, &starts));
  cr_assert_str_eq(starts.lanes.data, "{4099,4096}");
  cr_assert_str_eq(starts.floors.data, "{8,5}");
}

Test(floor, it_never_falls_and_the_lowest_counts) {
  int version;
  cr_assert(floor_start(&level, 1, FOUR, 5, &error));
  for (int lane = 4096; lane < 4100; lane++)
    floor_raise(&level, 1, lane, 10 + lane);
  floor_raise(&level, 1, 4098, 3);
  int64_t id;
  cr_assert(floor_read(&level, 1, 4098, &id));
  cr_assert_eq(id, 10 + 4098);
  cr_assert_eq(floor_lowest(&level, &version), 10 + 4096);
  cr_assert_eq(version, 1);
}

Test(floor, another_version_begins_anew_and_what_knows_the_old_one_changes_nothing) {
  int64_t id;
  cr_assert(floor_start(&level, 1, FOUR, 5, &error));
  floor_raise(&level, 1, 4097, 50);
  cr_assert(floor_start(&level, 1, FOUR, 99, &error));
  cr_assert(floor_read(&level, 1, 4097, &id) && id == 50, "the same version goes on");
  cr_assert(floor_start(&level, 2, (struct lanes){.first = 8192, .count = 2, .live = 1}, 7, &error));
  cr_assert_not(floor_read(&level, 1, 8193, &id));
  floor_raise(&level, 1, 8193, 60);
  cr_assert(floor_read(&level, 2, 8193, &id) && id == 7);
  cr_assert(floor_start(&level, 1, FOUR, 5, &error));
  cr_assert(floor_read(&level, 2, 8193, &id), "who comes late does not turn it back");
}

Test(floor, when_the_source_was_lost_it_is_of_no_version_until_it_is_started_again) {
  int64_t id;
  cr_assert(floor_start(&level, 3, FOUR, 5, &error));
  floor_raise(&level, 3, 4097, 50);
  floor_forget(&level);
  cr_assert_not(floor_read(&level, 3, 4097, &id));
  floor_raise(&level, 3, 4097, 60);
  cr_assert(floor_start(&level, 3, FOUR, 6, &error));
  cr_assert(floor_read(&level, 3, 4097, &id) && id == 6);
}

static void *raise_all(void *argument) {
  for (int64_t id = 1; id <= 20000; id++)
    floor_raise(argument, 1, 4096 + (int)(id % 4), id);
  return NULL;
}

Test(floor, threads_raise_it_together) {
  pthread_t threads[4];
  int version;
  cr_assert(floor_start(&level, 1, FOUR, 0, &error));
  for (size_t i = 0; i < 4; i++)
    cr_assert_eq(pthread_create(&threads[i], NULL, raise_all, &level), 0);
  for (size_t i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
  cr_assert_eq(floor_lowest(&level, &version), 19997);
}
