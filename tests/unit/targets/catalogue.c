/* Tests run in the project's directory, so what is checked in is at hand. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "targets/catalogue.h"

#define LIMIT (1024 * 1024)
#define BEGINS "<!-- made by: make options -->\n"
#define ENDS "<!-- until here -->\n"

static char content[LIMIT];
static struct buffer text;

static void begin(void) {
  buffer_init(&text, LIMIT);
}

static void end(void) {
  buffer_release(&text);
}

TestSuite(catalogue, .init = begin, .fini = end);

static const char *read_file(const char *path) {
  FILE *file = fopen(path, "r");
  cr_assert_not_null(file, "%s", path);
  content[fread(content, 1, sizeof content - 1, file)] = '\0';
  fclose(file);
  return content;
}

/* ---- what is checked in ------------------------------------------------------------------------------------------ */

Test(catalogue, the_schema_knows_the_kinds_of_this_program) {
  catalogue_add_sql_kinds(&text, TARGET_KINDS);
  cr_assert_str_eq(read_file("schema/functions/target/target_kinds.sql"), text.data, "run: make options");
}

Test(catalogue, the_schema_knows_the_options_of_this_program) {
  catalogue_add_sql_options(&text, TARGET_KINDS);
  cr_assert_str_eq(read_file("schema/functions/target/target_options.sql"), text.data, "run: make options");
}

Test(catalogue, the_guide_lists_the_kinds_and_options_of_this_program) {
  catalogue_add_markdown(&text, TARGET_KINDS);
  const char *from = strstr(read_file("replicator/README.md"), BEGINS);
  cr_assert_not_null(from);
  from += strlen(BEGINS);
  const char *to = strstr(from, ENDS);
  cr_assert_not_null(to);
  char *listed = strndup(from, (size_t)(to - from));
  cr_assert_str_eq(listed, text.data, "run: make options");
  free(listed);
}

/* ---- the tables themselves --------------------------------------------------------------------------------------- */

static void check_option(const struct target_option *option) {
  cr_expect_not_null(option->help, "%s", option->name);
  cr_expect_eq((option->number != NULL) + (option->choices != NULL) + (option->pattern != NULL), 1, "%s", option->name);
  cr_expect_eq(option->pattern != NULL, option->words != NULL, "%s", option->name);
  cr_expect(option->least >= 0 && option->most < 1000000000, "%s", option->name);
  cr_expect_eq(option->number != NULL, option->most > option->least, "%s", option->name);
  if (option->number != NULL && option->initial != NULL) {
    long long initial = strtoll(option->initial, NULL, 10);
    cr_expect(initial >= option->least && initial <= option->most, "%s", option->name);
  }
  if (option->choices != NULL) {
    cr_assert_not_null(option->initial, "%s", option->name);
    cr_expect_not_null(strstr(option->choices, option->initial), "%s", option->name);
  }
}

Test(catalogue, each_option_is_of_one_type_and_its_default_is_allowed) {
  for (const struct target_kind *const *kind = TARGET_KINDS; *kind != NULL; kind++)
    for (const struct target_option *const *table = (*kind)->options; *table != NULL; table++)
      for (const struct target_option *option = *table; option->name != NULL; option++)
        check_option(option);
  for (const struct target_option *option = TARGET_COMMON_OPTIONS; option->name != NULL; option++)
    check_option(option);
}

Test(catalogue, no_kind_has_two_options_of_one_name) {
  for (const struct target_kind *const *kind = TARGET_KINDS; *kind != NULL; kind++)
    for (const struct target_option *const *table = (*kind)->options; *table != NULL; table++)
      for (const struct target_option *option = *table; option->name != NULL; option++) {
        const struct target_option *const common[] = {TARGET_COMMON_OPTIONS, NULL};
        cr_expect_null(target_option_find(common, option->name), "%s", option->name);
        cr_expect_eq(target_option_find((*kind)->options, option->name), option, "%s", option->name);
      }
}

Test(catalogue, each_scheme_leads_to_its_kind) {
  for (const struct target_kind *const *kind = TARGET_KINDS; *kind != NULL; kind++)
    for (const struct target_url *url = (*kind)->urls; url->scheme != NULL; url++) {
      char example[64];
      const struct target_kind *found;
      struct error error;
      snprintf(example, sizeof example, "%s://host/", url->scheme);
      cr_assert(target_find_kind(example, &found, &error), "%s", example);
      cr_expect_eq(found, *kind, "%s", example);
    }
}

/* ---- a kind that only this test knows -----------------------------------------------------------------------------
 */

static const struct target_option TOY_TABLE[] = {
    {.name = "speed", .help = "how fast it goes", .number = "a number of steps", .least = 2, .most = 9, .initial = "5"},
    {.name = "colour", .help = "what it looks like", .choices = "red|blue", .initial = "red"},
    {.name = "key", .help = "what winds it up", .pattern = "^'\\d$", .words = "a quote and a digit", .secret = true},
    TARGET_OPTION_END,
};
static const struct target_option *const TOY_OPTIONS[] = {TOY_TABLE, NULL};
static const struct target_url TOY_URLS[] = {{"toy", "toy:SHELF", "a toy"}, {"puppet", NULL, NULL}, {NULL, NULL, NULL}};
static const struct target_url_rule TOY_RULES[] = {
    {.pattern = "^[a-z]+:.", .problem = "names no shelf", .hint = "Write SCHEME:SHELF."}, {.pattern = NULL}};
static const struct target_kind TOY = {
    .name = "toy", .urls = TOY_URLS, .url_rules = TOY_RULES, .options = TOY_OPTIONS, .keeps_state = true};

/* All kinds and the toy. */
static const struct target_kind *const *with_toy(void) {
  static const struct target_kind *kinds[32];
  size_t count = 0;
  while (TARGET_KINDS[count] != NULL) {
    kinds[count] = TARGET_KINDS[count];
    count++;
  }
  kinds[count] = &TOY;
  kinds[count + 1] = NULL;
  return kinds;
}

static void assert_has(const char *words) {
  cr_expect_not_null(strstr(text.data, words), "%s is not in %s", words, text.data);
}

Test(catalogue, a_new_kind_is_in_the_schema) {
  catalogue_add_sql_kinds(&text, with_toy());
  assert_has("(12, 'toy'::text, '{toy,puppet}'::text[],\n     '{toy}'::text[],\n     false, true, false,\n");
  assert_has("\"lanes\": \"64\"");
  assert_has("\"speed\": \"5\", \"colour\": \"red\"}'::jsonb");
  assert_has("'[{\"pattern\": \"^[a-z]+:.\",\n       \"problem\": \"names no shelf\",\n"
             "       \"hint\": \"Write SCHEME:SHELF.\"}]'::jsonb)\n$table$;");
}

Test(catalogue, options_of_a_new_kind_are_in_the_schema) {
  catalogue_add_sql_options(&text, with_toy());
  assert_has("('speed'::text,\n     '{toy}'::text[], 2::bigint, 9::bigint, false, false,\n"
             "     E'^\\\\d{1,9}$'::text,\n     'a number of steps from 2 to 9'::text)");
  assert_has("('colour'::text,\n     '{toy}'::text[], null::bigint, null::bigint, false, false,\n"
             "     '^(red|blue)$'::text,\n     'red or blue'::text)");
  assert_has("('key'::text,\n     '{toy}'::text[], null::bigint, null::bigint, true, false,\n"
             "     E'^''\\\\d$'::text,\n     'a quote and a digit'::text)");
}

Test(catalogue, a_new_kind_is_in_the_guide) {
  catalogue_add_markdown(&text, with_toy());
  assert_has("| `toy:SHELF` | toy | a toy |\n");
  assert_has("| `speed` | toy | how fast it goes | a number of steps from 2 to 9 | 5 |\n");
  assert_has("| `key` | toy | what winds it up | a quote and a digit |  |\n");
}

Test(catalogue, a_new_kind_is_in_the_help) {
  catalogue_add_urls(&text, with_toy());
  assert_has("  toy:SHELF                                    a toy\n");
  buffer_clear(&text);
  catalogue_add_options(&text, with_toy());
  assert_has("\nMore options of toy targets:\n"
             "  speed             how fast it goes\n                    a number of steps from 2 to 9 (default 5)\n");
}

Test(catalogue, a_new_kind_is_offered_by_shells) {
  catalogue_add_url_words(&text, with_toy());
  assert_has(" stdout: toy: puppet:");
  buffer_clear(&text);
  catalogue_add_option_words(&text, with_toy(), NULL);
  assert_has(" lanes=");
  assert_has(" speed= colour=");
  assert_has(" on_error= on_error=park on_error=block on_error=halt ");
}
