/* error_kind: errors that differ only in values are one. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "common/error_kind.h"
#include "common/text.h"

static void check(const char *sqlstate, const char *message, const char *expected) {
  struct error error = {.kind = FAILURE_REFUSED};
  char kind[ERROR_KIND_SIZE];
  snprintf(error.message, sizeof error.message, "%s", message);
  snprintf(error.sqlstate, sizeof error.sqlstate, "%s", sqlstate);
  error_kind(&error, kind, sizeof kind);
  cr_expect_str_eq(kind, expected);
}

Test(error_kind, values_are_left_out_and_the_state_is_added) {
  check("22P02", "invalid input syntax for type integer: \"x7\"", "invalid input syntax for type integer: ... (22P02)");
  check("22P02", "invalid input syntax for type integer: \"a \"quoted\" one\"",
        "invalid input syntax for type integer: ... (22P02)");
  check("22P02", "ungültige Eingabesyntax für Typ integer: »x7«",
        "ungültige Eingabesyntax für Typ integer: ... (22P02)");
  check("22003", "value \"99999999999\" is out of range for type integer",
        "value ... is out of range for type integer (22003)");
  check("22007", "invalid value \"ab c\" for \"YYYY\"", "invalid value ... for \"YYYY\" (22007)");
  check("22003", "Wert »abc« ist außerhalb des Bereichs", "Wert ... ist außerhalb des Bereichs (22003)");
  check("22P02", "Token \"a \"b\" is invalid.", "Token ... is invalid. (22P02)");
  check("22008", "date/time field value out of range: \"2020-13-01\"",
        "date/time field value out of range: ... (22008)");
  check("22021", "invalid byte sequence for encoding \"UTF8\": 0xc3 0x28",
        "invalid byte sequence for encoding \"UTF8\": ... ... (22021)");
  check("P0001", "order 42 of -1.5 since 2026-01-02 10:11:12.5+01 is closed.",
        "order ... of ... since ... ... is closed. (P0001)");
  check("P0001", "no row a3f1c2d4-0000-4000-8000-00000000000f here", "no row ... here (P0001)");
  check("400", "failed to parse field [n] in document with id 'a 42'. Preview of field's value: 'x'",
        "failed to parse field [n] in document with id .... Preview of field's value: ... (400)");
  check("422", "{\"error\": \"no customer\", \"id\": 17}", "{\"error\": \"no customer\", \"id\": ...} (422)");
}

Test(error_kind, names_and_words_stay) {
  static const char *const MESSAGES[] = {
      "",
      "new row for relation \"item2\" violates check constraint \"item_price_check1\"",
      "null value in column \"code\" of relation \"item\" violates not-null constraint",
      "an older change of this row was refused",
      "the document's query can't give utf8, int4 or x7",
      "added deadbeef: defaced",
      "it ends with a colon: ",
      "it's customers' fault"};
  for (size_t i = 0; i < sizeof MESSAGES / sizeof MESSAGES[0]; i++)
    check("23514", MESSAGES[i], MESSAGES[i]);
}

Test(error_kind, a_kind_has_room_for_each_message) {
  struct error error = {.kind = FAILURE_REFUSED, .sqlstate = "22P02"};
  char kind[ERROR_KIND_SIZE];
  memset(error.message, 'x', sizeof error.message - 1);
  memcpy(error.message + sizeof error.message - 3, " 7", 3);
  error_kind(&error, kind, sizeof kind);
  cr_expect_eq(strlen(kind), sizeof error.message - 1 - 1 + strlen("... (22P02)") - 0);
  /* each second letter a value, and no room for their placeholders */
  for (size_t i = 0; i + 1 < sizeof error.message; i++)
    error.message[i] = i % 2 == 0 ? '7' : ' ';
  error_kind(&error, kind, sizeof kind);
  cr_expect(strlen(kind) < sizeof kind);
}

/* Placeholders may be longer than values. */
Test(error_kind, is_never_cut_within_a_character) {
  struct error error = {.kind = FAILURE_REFUSED};
  char kind[ERROR_KIND_SIZE];
  char clean[ERROR_KIND_SIZE];
  for (size_t shift = 0; shift < 4; shift++) {
    size_t length = 0;
    while (length < shift)
      error.message[length++] = 'x';
    for (; length + 4 < sizeof error.message; length += 4)
      memcpy(error.message + length, "7 \u00fc", 4);
    error.message[length] = '\0';
    error_kind(&error, kind, sizeof kind);
    memcpy(clean, kind, sizeof clean);
    text_sanitize(clean, false);
    cr_expect_str_eq(clean, kind);
  }
}
