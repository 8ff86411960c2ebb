#include "terminal.h"

#include <criterion/criterion.h>
#include <pty.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_WORDS 32

static char screen[1024 * 1024];

/* To the end, which a terminal says with an error. */
static void read_screen(int terminal) {
  size_t length = 0;
  ssize_t got;
  while (length < sizeof screen - 1 && (got = read(terminal, screen + length, sizeof screen - 1 - length)) > 0)
    length += (size_t)got;
  screen[length] = '\0';
  char *to = screen;
  for (const char *from = screen; *from != '\0'; from++)
    if (*from != '\r' || from[1] != '\n')
      *to++ = *from;
  *to = '\0';
}

const char *on_terminal(const struct fixture *fixture, int *status, const char *word, ...) {
  const char *words[MOST_WORDS] = {getenv("ROWRELAY_BIN"), "-d", fixture->source};
  int count = 3;
  va_list more;
  va_start(more, word);
  for (; word != NULL && count < MOST_WORDS - 1; word = va_arg(more, const char *))
    words[count++] = word;
  va_end(more);
  struct winsize window = {.ws_row = 24, .ws_col = 80};
  int terminal;
  pid_t process = forkpty(&terminal, NULL, NULL, &window);
  cr_assert(process >= 0);
  if (process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execv(words[0], (char *const *)(uintptr_t)words);
    _exit(127);
  }
  read_screen(terminal);
  int ended;
  waitpid(process, &ended, 0);
  close(terminal);
  if (status != NULL)
    *status = WIFSIGNALED(ended) ? 128 + WTERMSIG(ended) : WEXITSTATUS(ended);
  return screen;
}
