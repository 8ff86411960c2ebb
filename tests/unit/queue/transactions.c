#include <criterion/criterion.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "queue/transactions.h"

static enum stands stands_of(char letter) {
  return letter == '|' ? STANDS_WITH_ITS_KIND : islower((unsigned char)letter) ? STANDS_ALONE : STANDS_WITH_ROWS;
}

/*
 * Each letter is a change of the transaction of that name, a small one its truncate, "|" another barrier. Gives the
 * letters that are chosen, "." for the others.
 */
static const char *chosen_of(const char *transactions, size_t most_rows, int64_t most_bytes, int64_t bytes_each) {
  static char text[64];
  struct queued queued[64];
  bool chosen[64];
  struct error error;
  size_t count = strlen(transactions);
  struct transactions_limit most = {.rows = most_rows, .bytes = most_bytes};
  for (size_t i = 0; i < count; i++)
    queued[i] = (struct queued){
        .txid = toupper((unsigned char)transactions[i]), .bytes = bytes_each, .stands = stands_of(transactions[i])};
  memset(chosen, true, sizeof chosen);
  cr_assert(transactions_choose(queued, count, most, chosen, &error), "%s", error.message);
  for (size_t i = 0; i < count; i++)
    text[i] = chosen[i] ? transactions[i] : '.';
  text[count] = '\0';
  return text;
}

static void check(const char *transactions, size_t most_rows, const char *expected) {
  const char *text = chosen_of(transactions, most_rows, 1000, 1);
  cr_expect(strcmp(text, expected) == 0, "%s, %zu at most: %s, not %s", transactions, most_rows, text, expected);
}

Test(transactions, transactions_are_taken_from_the_first_on_as_many_as_fit) {
  check("AABBCC", 6, "AABBCC");
  check("AABBCC", 5, "AABB..");
  check("AABBCC", 4, "AABB..");
  check("AABBCC", 3, "AA....");
  check("AAABC", 3, "AAA..");
  check("BA", 1, "B.");
  check("", 3, "");
}

Test(transactions, one_that_ends_later_waits_with_all_it_has) {
  check("ABBBA", 4, ".BBB.");
  check("ABBAC", 4, "ABBA.");
  check("ABCBCA", 3, ".B.B..");
  check("ABCBCA", 4, ".BCBC.");
  check("ABACBCDADBDC", 3, "A.A....A....");
  check("ABACBCDADBDC", 9, "ABA.B.DADBD.");
}

Test(transactions, nothing_smaller_overtakes_one_that_does_not_fit) {
  check("ABBBC", 3, "A....");
  check("BACBABDD", 4, ".AC.A...");
}

Test(transactions, one_that_is_too_large_is_taken_in_pieces) {
  check("AAAAAAA", 3, "AAA....");
  check("AABABAA", 3, "AA.A...");
  check("BAAAAAB", 3, ".AAA...");
  check("BAABAA", 3, "B..B..");
  check("BBCAAAAAA", 4, "BBC......");
}

Test(transactions, bytes_count_as_well_as_rows) {
  cr_expect_str_eq(chosen_of("ABABCC", 10, 45, 10), "ABAB..");
  cr_expect_str_eq(chosen_of("ABABCC", 10, 39, 10), "A.A...");
  cr_expect_str_eq(chosen_of("AAAB", 10, 25, 10), "AA..");
  cr_expect_str_eq(chosen_of("ABAB", 10, 5, 10), "A...");
}

Test(transactions, a_barrier_divides_no_other_transaction) {
  check("AbA", 6, ".b.");
  check("AAbCC", 6, "AA...");
  check("ACbCA", 6, "..b..");
  check("ACCbA", 6, ".CC..");
  check("A|A", 6, ".|.");
  check("A||AC", 6, ".||..");
  check("|b|", 6, "|..");
  check("bc", 6, "b.");
  check("b|", 6, "b.");
  check("|||||", 3, "|||..");
}

Test(transactions, a_barrier_divides_its_own_transaction) {
  check("BbBB", 6, "B...");
  check("bBB", 6, "b..");
  check("BABbBA", 6, "B.B...");
}

static void check_half(const char *transactions, const char *expected) {
  struct queued queued[64];
  bool chosen[64];
  char text[64];
  struct error error;
  size_t count = strlen(transactions);
  for (size_t i = 0; i < count; i++)
    queued[i] = (struct queued){.txid = transactions[i], .bytes = INT64_MAX / 64};
  memset(chosen, true, sizeof chosen);
  cr_assert(transactions_halve(queued, count, chosen, &error), "%s", error.message);
  for (size_t i = 0; i < count; i++)
    text[i] = chosen[i] ? transactions[i] : '.';
  text[count] = '\0';
  cr_expect(strcmp(text, expected) == 0, "%s: %s, not %s", transactions, text, expected);
}

Test(transactions, half_of_them_are_those_that_ended_first) {
  check_half("AABBCC", "AA....");
  check_half("ABCD", "AB..");
  check_half("AABCCCC", "AAB....");
  check_half("ABBA", ".BB.");
  check_half("ABAC", ".B..");
}

Test(transactions, one_alone_has_no_half) {
  check_half("AAAA", "....");
  check_half("A", ".");
  check_half("", "");
}

Test(transactions, a_large_one_is_not_divided) {
  check_half("AAAAAB", "AAAAA.");
  check_half("BAAAAA", "B.....");
  check_half("BAAAAAB", ".AAAAA.");
}
