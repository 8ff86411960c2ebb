#include "verified.h"

#include <criterion/criterion.h>
#include <string.h>

#include "mirrored.h"

const char *verified_said;
const char *verified_complained;

int verified(struct fixture *f, const char *word) {
  return rowrelay(f, &verified_said, &verified_complained, "verify", "w", word, NULL);
}

void verified_equal(struct fixture *f) {
  int status = verified(f, NULL);
  cr_assert(status == 0, "exit status %d\n%s%s", status, verified_said, verified_complained);
  cr_assert(strstr(verified_said, "equal") != NULL, "%s", verified_said);
}

void verified_finds(struct fixture *f, const char *const *lines, size_t count) {
  int status = verified(f, NULL);
  cr_assert(status == 3, "exit status %d\n%s%s", status, verified_said, verified_complained);
  for (size_t i = 0; i < count; i++)
    cr_expect(strstr(verified_said, lines[i]) != NULL, "\"%s\" is not in\n%s", lines[i], verified_said);
}

void verified_repaired(struct fixture *f) {
  int status = verified(f, "--repair");
  cr_assert(status == 3, "exit status %d\n%s%s", status, verified_said, verified_complained);
  cr_assert(strstr(verified_complained, "queued again") != NULL, "%s", verified_complained);
  mirrored_deliver(f);
  verified_equal(f);
}
