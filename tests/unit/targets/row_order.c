#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "targets/row_order.h"

static struct change changes[100000];
static const struct change *given[100000];
static bool is_last[100000];
static size_t count = 0;

static void add(int capture, const char *key) {
  changes[count] = (struct change){.id = (int64_t)count + 1, .capture = capture, .key = key};
  given[count] = &changes[count];
  count++;
}

/* "l" for each change that is its row's last, "-" for the others */
static const char *marks(void) {
  static char text[64];
  struct error error;
  memset(is_last, 7, sizeof is_last);
  cr_assert(row_order_mark(given, count, is_last, &error), "%s", error.message);
  for (size_t i = 0; i < count; i++)
    text[i] = is_last[i] ? 'l' : '-';
  text[count] = '\0';
  return text;
}

Test(latest, of_each_key_the_last_is_marked) {
  const char *keys[] = {"a", "b", "a", "c", "b", "a"};
  for (size_t i = 0; i < 6; i++)
    add(1, keys[i]);
  cr_assert_str_eq(marks(), "---lll");
}

Test(latest, a_single_change_is_the_last) {
  add(1, "a");
  cr_assert_str_eq(marks(), "l");
}

Test(latest, nothing_has_no_last) {
  cr_assert_str_eq(marks(), "");
}

Test(latest, the_same_key_of_another_table_is_another_row) {
  add(1, "a");
  add(2, "a");
  add(1, "a");
  cr_assert_str_eq(marks(), "-ll");
}

Test(latest, an_empty_key_is_a_key) {
  add(1, "");
  add(1, "a");
  add(1, "");
  cr_assert_str_eq(marks(), "-ll");
}

Test(latest, keys_that_begin_alike_are_different) {
  add(1, "10");
  add(1, "1");
  add(1, "100");
  add(1, "1");
  cr_assert_str_eq(marks(), "l-ll");
}

Test(latest, a_hundred_thousand_changes_of_many_keys_are_told_apart) {
  static char keys[10000][16];
  static size_t last_of[10000];
  srandom(1);
  for (int i = 0; i < 10000; i++)
    snprintf(keys[i], sizeof keys[i], "%d", i);
  for (size_t i = 0; i < 100000; i++) {
    long key = random() % 10000;
    add(1, keys[key]);
    last_of[key] = i;
  }
  struct error error;
  cr_assert(row_order_mark(given, count, is_last, &error));
  for (size_t i = 0; i < count; i++)
    cr_assert(is_last[i] == (last_of[atoi(given[i]->key)] == i), "change %zu of key %s", i, given[i]->key);
}
