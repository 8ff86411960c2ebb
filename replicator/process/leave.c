#include "process/leave.h"

#include <signal.h>
#include <stdatomic.h>

#include "common/interrupt.h"

static atomic_int signal_count = 0;
static atomic_int last_signal = 0;
static struct wake *to_wake;

static void count_signal(int number_of_signal) {
  atomic_store(&last_signal, number_of_signal);
  atomic_fetch_add(&signal_count, 1);
  wake_up(to_wake);
}

bool leave_is_told(void) {
  return atomic_load(&signal_count) > 0;
}

bool leave_is_told_at_once(void) {
  return atomic_load(&signal_count) > 1;
}

int leave_signal(void) {
  return atomic_load(&last_signal);
}

bool leave_on_signals(struct wake *wake, struct error *error) {
  struct sigaction action = {.sa_handler = count_signal, .sa_flags = SA_RESTART};
  to_wake = wake;
  sigemptyset(&action.sa_mask);
  if (sigaction(SIGTERM, &action, NULL) != 0 || sigaction(SIGINT, &action, NULL) != 0)
    return error_set(error, FAILURE_FATAL, "cannot handle signals");
  signal(SIGPIPE, SIG_IGN);
  interrupt_set(leave_is_told_at_once);
  return true;
}
