#include <criterion/criterion.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/url.h"

static struct buffer filled;
static struct error error;

static void begin(void) {
  buffer_init(&filled, 1000);
  setenv("SECRET", "p@ss/w:rd%#?&", 1);
  setenv("PLAIN", "plain-1._~", 1);
  setenv("EMPTY", "", 1);
  setenv("UMLAUT", "ü", 1);
  unsetenv("NOBODY_SETS_THIS");
}

static void end(void) {
  buffer_release(&filled);
}

TestSuite(url, .init = begin, .fini = end);

static const char *fill(const char *url) {
  buffer_clear(&filled);
  cr_assert(url_fill_in(url, "URL", &filled, &error), "%s", error.message);
  return filled.data;
}

Test(url, without_names_is_left_as_it_is) {
  cr_assert_str_eq(fill("postgresql://user@host:5432/db?sslmode=require"),
                   "postgresql://user@host:5432/db?sslmode=require");
  cr_assert_str_eq(fill(""), "");
}

Test(url, a_password_is_encoded) {
  cr_assert_str_eq(fill("postgresql://user:${SECRET}@host/db"),
                   "postgresql://user:p%40ss%2Fw%3Ard%25%23%3F%26@host/db");
}

Test(url, user_and_password_are_both_encoded) {
  cr_assert_str_eq(fill("postgresql://${UMLAUT}:${PLAIN}@host/db"), "postgresql://%C3%BC:plain-1._~@host/db");
}

Test(url, a_parameter_is_encoded) {
  cr_assert_str_eq(fill("postgresql://host/db?user=u&password=${SECRET}&sslmode=disable"),
                   "postgresql://host/db?user=u&password=p%40ss%2Fw%3Ard%25%23%3F%26&sslmode=disable");
  cr_assert_str_eq(fill("postgresql:///db?password=${SECRET}"),
                   "postgresql:///db?password=p%40ss%2Fw%3Ard%25%23%3F%26");
}

Test(url, a_path_is_taken_as_it_is) {
  cr_assert_str_eq(fill("file:${PLAIN}/a?${SECRET}"), "file:plain-1._~/a?p@ss/w:rd%#?&");
}

Test(url, an_at_sign_behind_a_slash_ends_no_password) {
  setenv("WHERE", "host/db", 1);
  cr_assert_str_eq(fill("postgresql://${WHERE}/x@y"), "postgresql://host/db/x@y");
}

Test(url, a_whole_url_can_stand_in_the_environment) {
  setenv("WHOLE", "//u:p%40@host/db?a=b", 1);
  cr_assert_str_eq(fill("postgresql:${WHOLE}"), "postgresql://u:p%40@host/db?a=b");
}

Test(url, an_empty_variable_is_nothing) {
  cr_assert_str_eq(fill("postgresql://u:${EMPTY}@host/"), "postgresql://u:@host/");
}

Test(url, a_dollar_sign_alone_is_a_dollar_sign) {
  cr_assert_str_eq(fill("file:/tmp/$PLAIN/$"), "file:/tmp/$PLAIN/$");
  cr_assert_str_eq(fill("file:/tmp/${PLAIN"), "file:/tmp/${PLAIN");
}

Test(url, a_variable_that_is_not_set_is_named) {
  cr_assert_not(url_fill_in("postgresql://u:${NOBODY_SETS_THIS}@host/", "URL", &filled, &error));
  cr_assert_eq(error.kind, FAILURE_USAGE);
  cr_assert_str_eq(error.message, "environment variable NOBODY_SETS_THIS, which the target's URL uses, is not set");
  cr_assert_str_eq(error.hint, "set it in the environment of rowrelay run, and of this command");
}

Test(url, a_name_must_be_given) {
  cr_assert_not(url_fill_in("file:${}", "URL", &filled, &error));
  cr_assert_eq(error.kind, FAILURE_USAGE);
  cr_assert_str_eq(error.message, "the target's URL has a ${} without a name");
}

Test(url, what_does_not_fit_is_an_error) {
  char value[2000];
  for (size_t i = 0; i < sizeof value - 1; i++)
    value[i] = 'x';
  value[sizeof value - 1] = '\0';
  setenv("LONG", value, 1);
  cr_assert_not(url_fill_in("file:${LONG}", "URL", &filled, &error));
}

Test(url, what_came_from_the_environment_is_taken_out_of_an_error) {
  error_set(&error, FAILURE_RETRY, "cannot read \"//u:p%%40ss%%2Fw%%3Ard%%25%%23%%3F%%26@h\", \"p@ss/w:rd%%#?&\"");
  error_detail(&error, "plain-1._~plain-1._~");
  error_hint(&error, "nothing");
  url_hide("postgresql://${PLAIN}:${SECRET}@h/${EMPTY}${NOBODY_SETS_THIS}${}", &error);
  cr_assert_str_eq(error.message, "cannot read \"//u:${SECRET}@h\", \"${SECRET}\"");
  cr_assert_str_eq(error.detail, "${PLAIN}${PLAIN}");
  cr_assert_str_eq(error.hint, "nothing");
}

Test(url, names_and_secrets_may_have_any_length) {
  static char name[201];
  static char secret[50001];
  static char url[300];
  struct buffer text;
  memset(name, 'N', sizeof name - 1);
  memset(secret, 'x', sizeof secret - 1);
  setenv(name, secret, 1);
  snprintf(url, sizeof url, "http://${%s}@h/", name);
  buffer_init(&text, URL_LIMIT);
  cr_assert(url_fill_in(url, "URL", &text, &error), "%s", error.message);
  cr_assert_eq(text.length, strlen("http://@h/") + sizeof secret - 1);
  buffer_release(&text);
  /* As HTTP sends it, cut off at the error's end. */
  char *encoded = malloc(2 * sizeof secret);
  EVP_EncodeBlock((unsigned char *)encoded, (const unsigned char *)secret, (int)sizeof secret - 1);
  error_set(&error, FAILURE_RETRY, "Basic %s", encoded);
  url_hide(url, &error);
  cr_assert_eq(strlen(error.message), strlen("Basic ${}") + strlen(name), "%s", error.message);
  free(encoded);
}

Test(url, an_error_that_is_full_of_secrets_stays_within_its_bounds) {
  char text[1024];
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  setenv("A_NAME_THAT_IS_LONGER_THAN_WHAT_IT_STANDS_FOR", "xxxx", 1);
  error_set(&error, FAILURE_RETRY, "%s", text);
  url_hide("x:${A_NAME_THAT_IS_LONGER_THAN_WHAT_IT_STANDS_FOR}", &error);
  cr_assert_null(strstr(error.message, "xxxx"));
  cr_assert(strlen(error.message) < sizeof error.message);
}

Test(url, a_secret_that_was_cut_short_is_hidden_too) {
  setenv("LONG_SECRET", "abcdefgh-ijklmnop", 1);
  error_set(&error, FAILURE_RETRY, "you said abcdefgh-ijklmnop, and abcdefgh-ij");
  url_hide("{\"headers\": \"X: ${LONG_SECRET}\"}", &error);
  cr_assert_str_eq(error.message, "you said ${LONG_SECRET}, and ${LONG_SECRET}");
  setenv("LONG_SECRET", "aaaaaaaa", 1);
  error_set(&error, FAILURE_RETRY, "aaaaaaaa");
  url_hide("${LONG_SECRET}", &error);
  cr_assert_str_eq(error.message, "${LONG_SECRET}");
}

static void is_hidden(const char *said, const char *expected) {
  error_set(&error, FAILURE_RETRY, "%s", said);
  url_hide("{\"headers\": \"X: ${ESCAPED}\"}", &error);
  cr_expect_str_eq(error.message, expected);
}

Test(url, a_secret_is_hidden_however_a_receiver_escapes_it) {
  setenv("ESCAPED", "ab/c+d=\"<ü&%7", 1);
  is_hidden("1 ab/c+d=\"<ü&%7 2", "1 ${ESCAPED} 2");
  is_hidden("1 ab\\/c+d=\\\"<ü&%7 2", "1 ${ESCAPED} 2");
  is_hidden("1 ab/c\\u002Bd\\u003d\\\"\\u003c\\u00fc\\u0026%7 2", "1 ${ESCAPED} 2");
  is_hidden("1 ab/c+d=&quot;&lt;ü&amp;%7 2", "1 ${ESCAPED} 2");
  is_hidden("1 ab&#x2F;c&#43;d&#61;&#34;&#x3c;&#252;&amp;%7 2", "1 ${ESCAPED} 2");
  is_hidden("1 ab%2fc%2Bd%3D%22%3C%C3%BC%26%257 2", "1 ${ESCAPED} 2");
  is_hidden("1 ab\\/c&#43;d%3D\\\"\\u003c\\u00fc&amp;%257 2", "1 ${ESCAPED} 2");
  is_hidden("1 ab\\/c\\u00", "1 ${ESCAPED}");
  is_hidden("1 ab\\/c&#4", "1 ${ESCAPED}");
  is_hidden("1 ab\\/d 2", "1 ab\\/d 2");
  setenv("ESCAPED", "pass\xf0\x9f\x94\x91word", 1);
  is_hidden("pass\\ud83d\\udd11word", "${ESCAPED}");
  setenv("ESCAPED", "\\\\\\\\", 1);
  is_hidden("\\\\\\\\", "${ESCAPED}");
}

Test(url, each_long_word_of_a_secret_is_hidden) {
  setenv("ESCAPED", "Bearer t0ken/of/mine", 1);
  is_hidden("Bearer t0ken/of/mine, t0ken\\/of\\/mine or Bearer.", "${ESCAPED}, ${ESCAPED} or Bearer.");
  setenv("ESCAPED", "//user:PASSWORD%zz@host/db", 1);
  is_hidden("invalid percent-encoded token: \"PASSWORD%zz\"", "invalid percent-encoded token: \"${ESCAPED}\"");
}
