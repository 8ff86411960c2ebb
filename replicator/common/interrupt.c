#include "common/interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

static bool (*told_to_leave_at_once)(void) = NULL;

void interrupt_set(bool (*told)(void)) {
  told_to_leave_at_once = told;
}

static _Thread_local bool (*told_of_thread)(void *context) = NULL;
static _Thread_local void *context_of_thread = NULL;

void interrupt_set_for_thread(bool (*told)(void *context), void *context) {
  told_of_thread = told;
  context_of_thread = context;
}

static atomic_bool signalled = false;

static void note_signal(int number) {
  (void)number;
  atomic_store(&signalled, true);
}

static bool was_signalled(void) {
  return atomic_load(&signalled);
}

void interrupt_on_signals(void) {
  struct sigaction action = {.sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  interrupt_set(was_signalled);
}

bool interrupted(void) {
  return (told_to_leave_at_once != NULL && told_to_leave_at_once()) ||
         (told_of_thread != NULL && told_of_thread(context_of_thread));
}
