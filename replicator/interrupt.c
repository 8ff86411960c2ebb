#include "interrupt.h"

#include <stddef.h>

static bool (*told_to_leave_at_once)(void) = NULL;

void interrupt_set(bool (*told)(void)) {
  told_to_leave_at_once = told;
}

bool interrupted(void) {
  return told_to_leave_at_once != NULL && told_to_leave_at_once();
}
