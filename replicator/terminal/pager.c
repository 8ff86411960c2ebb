#include "terminal/pager.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * -F: what fits on the screen is only printed; -R: colours; -X: it stays there afterwards. Where there is no less, as
 * in a small container, nothing is paged.
 */
#define USUAL_PAGER "if command -v less >/dev/null; then exec less -FRX; else exec cat; fi"

static void ignore(int number) {
  (void)number;
}

/* A write to a pager that has left fails then, instead of ending the process. Not SIG_IGN, which the pager would keep.
 */
static void outlive_the_reader(void) {
  struct sigaction action = {.sa_handler = ignore, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  sigaction(SIGPIPE, &action, NULL);
}

bool pager_open(struct pager *pager, bool wanted, struct error *error) {
  const char *command = getenv("PAGER");
  *pager = (struct pager){.out = stdout};
  if (command == NULL)
    command = USUAL_PAGER;
  if (!wanted || isatty(STDOUT_FILENO) != 1 || command[0] == '\0' || strcmp(command, "cat") == 0)
    return true;
  fflush(stdout);
  outlive_the_reader();
  pager->out = popen(command, "we"); /* NOLINT(cert-env33-c): what PAGER means is the shell's to say */
  pager->paged = pager->out != NULL;
  return pager->paged ||
         error_set(error, FAILURE_FATAL, "could not start the pager \"%s\": %s", command, strerror(errno));
}

bool pager_flush(struct pager *pager, struct error *error) {
  if (fflush(pager->out) == 0 && !ferror(pager->out))
    return true;
  pager->left = pager->paged && errno == EPIPE;
  return pager->left || error_set(error, FAILURE_FATAL, "could not write the output: %s", strerror(errno));
}

void pager_close(struct pager *pager) {
  if (pager->paged)
    pclose(pager->out);
  pager->paged = false;
  pager->out = stdout;
}
