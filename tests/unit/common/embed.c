/* Tests run in the project's directory, so the files that were embedded are at hand. */
#include <criterion/criterion.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "queries.h"
#include "schema_files.h"

#define LONGEST_FILE (1024 * 1024)

static char content[LONGEST_FILE];

static void read_file(const char *path) {
  FILE *file = fopen(path, "r");
  cr_assert_not_null(file, "%s", path);
  size_t length = fread(content, 1, sizeof content - 1, file);
  cr_assert_lt(length, sizeof content - 1);
  content[length] = '\0';
  fclose(file);
}

Test(embed, every_query_is_its_file) {
  cr_assert_gt(QUERY_COUNT, 0);
  for (size_t i = 0; i < QUERY_COUNT; i++) {
    char path[256];
    glob_t found;
    snprintf(path, sizeof path, "replicator/*/sql/%s.sql", QUERIES[i]->name);
    if (glob(path, 0, NULL, &found) == 0)
      snprintf(path, sizeof path, "%s", found.gl_pathv[0]);
    else /* what psql runs too */
      snprintf(path, sizeof path, "schema/%s.sql", QUERIES[i]->name);
    globfree(&found);
    read_file(path);
    cr_assert_str_eq(QUERIES[i]->text, content, "%s", path);
  }
}

Test(embed, every_schema_file_is_its_file) {
  cr_assert_gt(SCHEMA_FILE_COUNT, 0);
  for (size_t i = 0; i < SCHEMA_FILE_COUNT; i++) {
    char path[256];
    snprintf(path, sizeof path, "schema/%s", SCHEMA_FILES[i].path);
    read_file(path);
    cr_assert_str_eq(SCHEMA_FILES[i].text, content, "%s", path);
  }
}

/* "-- Gives layout: …" */
static bool says_what_it_gives(const char *text) {
  static const char GIVES[] = "\n-- Gives ";
  const char *found = strstr(text, GIVES);
  if (found == NULL)
    return false;
  found += strlen(GIVES);
  return found[strspn(found, "abcdefghijklmnopqrstuvwxyz_")] == ':';
}

Test(embed, a_query_has_the_columns_that_it_says) {
  for (size_t i = 0; i < QUERY_COUNT; i++)
    cr_expect_eq(QUERIES[i]->columns != NULL, says_what_it_gives(QUERIES[i]->text), "%s", QUERIES[i]->name);
  static const char *const COLUMNS[] = {"change_id", "lane", "day", "bytes", NULL};
  for (int i = 0; COLUMNS[i] != NULL; i++)
    cr_assert_str_eq(QUERY_claim_queued.columns[i], COLUMNS[i]);
  cr_assert_null(QUERY_claim_queued.columns[ROW_COLUMN_COUNT]);
  cr_assert_eq(ROW_BYTES, 3);
}

/* Counts the files that say which advisory lock is meant by a number of their own. */
static int numbers_of_locks(const char *text) {
  const char *found = text;
  while ((found = strstr(found, "_lock(")) != NULL) {
    found += strlen("_lock(");
    if (strncmp(found, "x'", 2) == 0 || (*found >= '0' && *found <= '9'))
      return 1;
  }
  return 0;
}

/* That of an installation is for psql and the program alike, that of a tick is taken by one function. */
Test(embed, the_number_of_a_lock_stands_in_one_file) {
  int count = 0;
  for (size_t i = 0; i < QUERY_COUNT; i++)
    count += numbers_of_locks(QUERIES[i]->text);
  cr_assert_eq(count, numbers_of_locks(QUERY_install_lock.text));
  count = 0;
  for (size_t i = 0; i < SCHEMA_FILE_COUNT; i++)
    if (SCHEMA_FILES[i].migration == 0)
      count += numbers_of_locks(SCHEMA_FILES[i].text);
  cr_assert_eq(count, 1);
}

static void is_ascii(const char *text, const char *path) {
  for (; *text != '\0'; text++)
    cr_assert((unsigned char)*text < 128, "%s: %.20s", path, text);
}

/* Databases are in encodings that have no arrows and dashes, and psql may think that files are in another one. */
Test(embed, what_runs_at_the_source_is_ascii) {
  for (size_t i = 0; i < QUERY_COUNT; i++)
    is_ascii(QUERIES[i]->text, QUERIES[i]->name);
  for (size_t i = 0; i < SCHEMA_FILE_COUNT; i++)
    is_ascii(SCHEMA_FILES[i].text, SCHEMA_FILES[i].path);
}

Test(embed, migrations_are_numbered_in_order_and_nothing_else_is) {
  int last = 0;
  for (size_t i = 0; i < SCHEMA_FILE_COUNT; i++) {
    const struct schema_file *file = &SCHEMA_FILES[i];
    bool is_migration = strncmp(file->path, "migrations/", 11) == 0;
    cr_assert_eq(file->migration, is_migration ? ++last : 0, "%s", file->path);
  }
  cr_assert_eq(last, SCHEMA_NEWEST);
}

/* A program of nothing but that query prints it again. */
#define PRINT_AGAIN                                                                                                    \
  "cd \"$DIRECTORY\" &&"                                                                                               \
  "sh \"$PROJECT/replicator/common/embed.sh\" queries queries odd.sql &&"                                              \
  "echo '#include <stdio.h>\n#include \"queries.h\"\nint main(void) { fputs(QUERY_odd.text, stdout); }' >main.c &&"    \
  "gcc -std=c17 -I. -I\"$PROJECT/replicator\" $(pkg-config --cflags libpq) main.c queries.c -o print &&"               \
  "./print | cmp - odd.sql"

static void write_odd_file(const char *path) {
  FILE *file = fopen(path, "w");
  cr_assert_not_null(file, "%s", path);
  for (int byte = 1; byte < 256; byte++)
    fputc(byte, file);
  fputs("\n\"quoted\" 'quoted' \\n \\ \\x41 ?\?= ?\?/ %s $1 /* */ // \\\n\n", file);
  for (int i = 0; i < 100000; i++)
    fputc('x', file);
  fputs("\n", file);
  cr_assert_eq(fclose(file), 0);
}

Test(embed, any_byte_and_a_very_long_line_survive, .timeout = 60) {
  char directory[] = "/tmp/rowrelay-embed-XXXXXX";
  char path[64];
  cr_assert_not_null(mkdtemp(directory));
  setenv("DIRECTORY", directory, 1);
  setenv("PROJECT", getcwd(content, sizeof content), 1);
  snprintf(path, sizeof path, "%s/odd.sql", directory);
  write_odd_file(path);
  int status = system(PRINT_AGAIN);
  cr_assert_eq(system("rm -r \"$DIRECTORY\""), 0);
  cr_assert_eq(status, 0);
}
