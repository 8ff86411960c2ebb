#include <criterion/criterion.h>
#include <string.h>

#include "cli/option.h"

static const struct option SHARED[] = {
    {.name = "dbname", .letter = 'd', .value = "CONNINFO", .help = "where"},
    {.name = "help", .letter = 'h', .help = "help"},
    OPTION_END,
};

static const struct option OWN[] = {
    {.name = "to", .letter = 't', .value = "TARGET", .help = "target"},
    {.name = "limit", .value = "N", .initial = "100", .help = "how many"},
    {.name = "watch", .value = "SECONDS", .implied = "2", .help = "again"},
    {.name = "mask", .value = "COL", .repeatable = true, .help = "mask"},
    {.name = "all", .letter = 'a', .help = "all"},
    OPTION_END,
};

static struct options given;
static struct error error;

#define WORDS(...)                                                                                                     \
  (sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)), (const char *[]) {                                         \
    __VA_ARGS__                                                                                                        \
  }

static bool parse(size_t count, const char *const *words) {
  cr_assert(option_init(&given, SHARED, count, &error));
  return option_parse(&given, OWN, count, words, &error);
}

static void forget(void) {
  option_release(&given);
}

TestSuite(option, .fini = forget);

Test(option, takes_a_value_as_next_word_or_behind_an_equals_sign) {
  cr_assert(parse(WORDS("--to", "a", "--limit=7")));
  cr_assert_str_eq(option_text(&given, "to"), "a");
  cr_assert_str_eq(option_text(&given, "limit"), "7");
}

Test(option, takes_short_letters_together_and_with_a_value) {
  cr_assert(parse(WORDS("-ahdconninfo", "-t", "x")));
  cr_assert(option_given(&given, "all"));
  cr_assert(option_given(&given, "help"));
  cr_assert_str_eq(option_text(&given, "dbname"), "conninfo");
  cr_assert_str_eq(option_text(&given, "to"), "x");
}

Test(option, stands_before_between_and_behind_arguments) {
  cr_assert(parse(WORDS("-a", "one", "--to", "x", "two", "--limit", "3")));
  cr_assert_eq(given.argument_count, 2);
  cr_assert_str_eq(given.arguments[0], "one");
  cr_assert_str_eq(given.arguments[1], "two");
}

Test(option, everything_behind_two_dashes_is_an_argument) {
  cr_assert(parse(WORDS("--", "--to", "-a")));
  cr_assert_eq(given.argument_count, 2);
  cr_assert_str_eq(given.arguments[0], "--to");
  cr_assert_not(option_given(&given, "all"));
}

Test(option, a_single_dash_and_an_empty_word_are_arguments) {
  cr_assert(parse(WORDS("-", "")));
  cr_assert_eq(given.argument_count, 2);
}

Test(option, a_value_may_begin_with_a_dash) {
  cr_assert(parse(WORDS("--to", "-1")));
  cr_assert_str_eq(option_text(&given, "to"), "-1");
}

Test(option, falls_back_to_its_default) {
  cr_assert(parse(WORDS("x")));
  cr_assert_str_eq(option_text(&given, "limit"), "100");
  cr_assert_null(option_text(&given, "to"));
  cr_assert_not(option_given(&given, "limit"));
}

Test(option, a_second_use_with_another_value_is_wrong_use) {
  cr_assert_not(parse(WORDS("--to", "a", "-tb")));
  cr_assert_eq(error.kind, FAILURE_USAGE);
  cr_assert_str_eq(error.message, "option --to is given twice, with different values");
}

Test(option, a_second_use_with_the_same_value_changes_nothing) {
  cr_assert(parse(WORDS("--to", "a", "-ta", "-a", "--all")));
  cr_assert_str_eq(option_text(&given, "to"), "a");
}

Test(option, every_use_of_a_repeatable_one_counts) {
  cr_assert(parse(WORDS("--mask", "a", "--all", "--mask=b")));
  cr_assert_eq(option_count(&given, "mask"), 2);
  cr_assert_str_eq(option_at(&given, "mask", 0), "a");
  cr_assert_str_eq(option_at(&given, "mask", 1), "b");
  cr_assert_null(option_at(&given, "mask", 2));
}

Test(option, a_value_that_may_be_left_out_is_implied) {
  cr_assert(parse(WORDS("--watch")));
  cr_assert_str_eq(option_text(&given, "watch"), "2");
}

Test(option, a_value_that_may_be_left_out_is_implied_before_another_option) {
  cr_assert(parse(WORDS("--watch", "--all")));
  cr_assert_str_eq(option_text(&given, "watch"), "2");
  cr_assert(option_given(&given, "all"));
}

Test(option, a_value_that_may_be_left_out_is_taken_where_it_is_given) {
  cr_assert(parse(WORDS("--watch", "5")));
  cr_assert_str_eq(option_text(&given, "watch"), "5");
}

Test(option, an_unknown_one_is_wrong_use_and_named) {
  cr_assert_not(parse(WORDS("--nonsense=1")));
  cr_assert_eq(error.kind, FAILURE_USAGE);
  cr_assert_str_eq(error.message, "unknown option --nonsense");
}

Test(option, of_an_unknown_one_the_nearest_is_named) {
  cr_assert_not(parse(WORDS("--wach")));
  cr_assert_str_eq(error.message, "unknown option --wach");
  cr_assert_str_eq(error.hint, "did you mean --watch?");
}

Test(option, an_unknown_letter_is_wrong_use_and_named) {
  cr_assert_not(parse(WORDS("-ax")));
  cr_assert_str_eq(error.message, "unknown option -x");
}

Test(option, the_beginning_of_a_name_is_not_enough) {
  cr_assert_not(parse(WORDS("--lim", "1")));
}

Test(option, a_missing_value_is_wrong_use_and_named) {
  cr_assert_not(parse(WORDS("--to")));
  cr_assert_eq(error.kind, FAILURE_USAGE);
  cr_assert_not_null(strstr(error.message, "--to"));
}

Test(option, a_flag_takes_no_value) {
  cr_assert_not(parse(WORDS("--all=yes")));
  cr_assert_str_eq(error.message, "option --all takes no value");
}

Test(option, reading_stops_before_the_command) {
  size_t used;
  const char *const words[] = {"-d", "shop", "capture", "--to", "x"};
  cr_assert(option_init(&given, SHARED, 5, &error));
  cr_assert(option_parse_leading(&given, 5, words, &used, &error));
  cr_assert_eq(used, 2);
  cr_assert(option_parse(&given, OWN, 2, words + 3, &error));
  cr_assert_str_eq(option_text(&given, "dbname"), "shop");
  cr_assert_str_eq(option_text(&given, "to"), "x");
}

Test(option, nothing_is_no_number) {
  int64_t value;
  cr_assert(parse(WORDS("--limit=")));
  cr_assert_not(option_integer(&given, "limit", (struct bounds){0, 100}, &value, &error));
}

Test(option, a_number_is_read) {
  int64_t value;
  cr_assert(parse(WORDS("--limit", "12")));
  cr_assert(option_integer(&given, "limit", (struct bounds){1, 100}, &value, &error));
  cr_assert_eq(value, 12);
}

static const char *const NOT_FROM_1_TO_100[] = {"", "0", "101", "1x", "x", "1.5", "99999999999999999999"};

Test(option, what_is_no_number_within_its_bounds_is_wrong_use) {
  for (size_t i = 0; i < sizeof NOT_FROM_1_TO_100 / sizeof NOT_FROM_1_TO_100[0]; i++) {
    int64_t value;
    cr_assert(parse(WORDS("--limit", NOT_FROM_1_TO_100[i])));
    cr_assert_not(option_integer(&given, "limit", (struct bounds){1, 100}, &value, &error), "\"%s\"",
                  NOT_FROM_1_TO_100[i]);
    cr_assert_eq(error.kind, FAILURE_USAGE);
    option_release(&given);
  }
}
