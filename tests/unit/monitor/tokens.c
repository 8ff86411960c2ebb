/* The file of those who may do something over HTTP. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "monitor/tokens.h"

#define SHA_OF_ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

static bool is_known(const char *grant, struct error *error) {
  return strcmp(grant, "all") == 0 || error_set(error, FAILURE_USAGE, "\"%s\" is nothing", grant);
}

static const struct tokens_form STRICT = {.line = "NAME SHA-256 ROLE"};
static const struct tokens_form LOOSE = {.line = "NAME SHA-256 RIGHTS", .allows_no_token = true, .check = is_known};
static struct tokens tokens;
static struct error error;

static bool read_text(const struct tokens_form *form, const char *text) {
  char path[] = "/tmp/rowrelay-tokens-XXXXXX";
  int file = mkstemp(path);
  cr_assert(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
  close(file);
  bool ok = tokens_read(&tokens, form, path, &error);
  unlink(path);
  return ok;
}

Test(tokens, a_token_is_found_by_its_hash_and_only_other_names_by_themselves) {
  struct digest digest;
  cr_assert(read_text(&LOOSE, "# people\n\nanna " SHA_OF_ABC " all\nben - all\n"), "%s", error.message);
  cr_assert_eq(tokens.count, 2);
  cr_assert(tokens_hash("abc", &digest));
  const struct token *anna = tokens_find(&tokens, &digest);
  cr_assert_not_null(anna);
  cr_assert_str_eq(anna->name, "anna");
  cr_assert_null(tokens_without_hash(&tokens, "anna"));
  cr_assert_str_eq(tokens_without_hash(&tokens, "ben")->grant, "all");
  cr_assert_null(tokens_without_hash(&tokens, "carl"));
  cr_assert(tokens_hash("", &digest));
  cr_assert_null(tokens_find(&tokens, &digest));
  tokens_release(&tokens);
}

/* The hash of nothing in its place is all zeros, which nobody may have either. */
Test(tokens, who_has_no_token_is_not_found_by_one) {
  struct digest zero = {{0}};
  cr_assert(read_text(&LOOSE, "ben - all\n"), "%s", error.message);
  cr_assert_null(tokens_find(&tokens, &zero));
  tokens_release(&tokens);
}

Test(tokens, a_line_that_cannot_be_read_is_named) {
  cr_assert_not(read_text(&STRICT, "anna " SHA_OF_ABC " shop\nben - shop\n"));
  cr_assert_not_null(strstr(error.message, ", line 2: this is not \"NAME SHA-256 ROLE\""), "%s", error.message);
  cr_assert_not(read_text(&LOOSE, "anna " SHA_OF_ABC "\n"));
  cr_assert_not_null(strstr(error.message, ", line 1: this is not \"NAME SHA-256 RIGHTS\""), "%s", error.message);
  cr_assert_not(read_text(&LOOSE, "\nanna " SHA_OF_ABC " some\n"));
  cr_assert_not_null(strstr(error.message, ", line 2: \"some\" is nothing"), "%s", error.message);
}
