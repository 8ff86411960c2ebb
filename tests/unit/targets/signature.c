/* Signatures as Standard Webhooks say, with the example of their own text. */
#include <criterion/criterion.h>
#include <string.h>

#include "targets/signature.h"

#define SECRET "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
#define OTHER "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"

static struct signer signer;
static struct error error;

static const char *sign(const char *id, const char *timestamp, const char *body) {
  static char text[512];
  struct buffer signature;
  buffer_init(&signature, sizeof text);
  struct message message = {.id = id, .timestamp = timestamp, .body = body, .length = strlen(body)};
  signer_sign(&signer, &message, &signature);
  strncpy(text, signature.data, sizeof text - 1);
  buffer_release(&signature);
  return text;
}

Test(signature, is_that_of_the_standards_example) {
  cr_assert(signer_read(&signer, SECRET, &error), "%s", error.message);
  cr_assert_str_eq(sign("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", "{\"test\": 2432232314}"),
                   "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

Test(signature, differs_when_anything_that_is_signed_does) {
  cr_assert(signer_read(&signer, SECRET, &error));
  char first[512];
  strncpy(first, sign("a", "1", "body"), sizeof first - 1);
  cr_assert_str_eq(sign("a", "1", "body"), first);
  cr_assert_str_neq(sign("b", "1", "body"), first);
  cr_assert_str_neq(sign("a", "2", "body"), first);
  cr_assert_str_neq(sign("a", "1", "bodY"), first);
  cr_assert_str_neq(sign("a", "1", ""), first);
}

Test(signature, there_is_one_by_each_secret) {
  char first[512];
  char second[512];
  cr_assert(signer_read(&signer, SECRET, &error));
  strncpy(first, sign("a", "1", "b"), sizeof first - 1);
  cr_assert(signer_read(&signer, OTHER, &error));
  strncpy(second, sign("a", "1", "b"), sizeof second - 1);
  cr_assert(signer_read(&signer, " " SECRET "\n" OTHER "\r\n", &error), "%s", error.message);
  const char *both = sign("a", "1", "b");
  cr_assert_eq(strncmp(both, first, strlen(first)), 0, "%s", both);
  cr_assert_str_eq(both + strlen(first) + 1, second);
}

Test(signature, what_is_no_secret_is_refused_without_telling_it) {
  static const char *const WRONG[] = {"",
                                      "   ",
                                      "whsec_",
                                      "whsec_c2hvcnQ=",
                                      "sec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                                      "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa!!",
                                      SECRET " whsec_no"};
  for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
    error_clear(&error);
    cr_expect_not(signer_read(&signer, WRONG[i], &error), "%s", WRONG[i]);
    cr_expect_neq(error.message[0], '\0', "%s", WRONG[i]);
    cr_expect_null(strstr(error.message, "MfKQ9r8"), "%s", error.message);
  }
}
