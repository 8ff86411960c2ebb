#include "terminal.h"

#include <criterion/criterion.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_WORDS 32

static char screen[1024 * 1024];
static const char *answer; /* see terminal_answer() */

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

/* Starts the program on a terminal of this size. */
static int start_on(const struct fixture *fixture, struct winsize window, pid_t *process, const char *word,
                    va_list more) {
  const char *words[MOST_WORDS] = {getenv("ROWRELAY_BIN"), "-d", fixture->source};
  int count = 3;
  for (; word != NULL && count < MOST_WORDS - 1; word = va_arg(more, const char *))
    words[count++] = word;
  int fd;
  *process = forkpty(&fd, NULL, NULL, &window);
  cr_assert(*process >= 0);
  if (*process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execv(words[0], (char *const *)(uintptr_t)words);
    _exit(127);
  }
  return fd;
}

static int exit_status(int ended) {
  return WIFSIGNALED(ended) ? 128 + WTERMSIG(ended) : WEXITSTATUS(ended);
}

void terminal_answer(const char *keys) {
  answer = keys;
}

const char *on_terminal(const struct fixture *fixture, int *status, const char *word, ...) {
  pid_t process;
  va_list more;
  va_start(more, word);
  int fd = start_on(fixture, (struct winsize){.ws_row = 24, .ws_col = 80}, &process, word, more);
  va_end(more);
  size_t length = answer != NULL ? strlen(answer) : 0;
  cr_assert(length == 0 || write(fd, answer, length) == (ssize_t)length);
  answer = NULL;
  read_screen(fd);
  int ended;
  waitpid(process, &ended, 0);
  close(fd);
  if (status != NULL)
    *status = exit_status(ended);
  return screen;
}

/* ---- a command that goes on ------------------------------------------------------------------------------------ */

#define MOST_ROWS 64
#define MOST_COLUMNS 256

/* As much of a terminal as the program makes use of. Each cell is a character, of one column. */
static struct {
  int fd;
  pid_t process;
  int rows, columns;
  int row, column; /* of the cursor */
  char cells[MOST_ROWS][MOST_COLUMNS][8];
  bool other_page; /* than the shell's */
  bool cursor_hidden;
  char sequence[32]; /* that is being read */
  size_t sequence_length;
} page;

/* Behind the last column the cursor stands on it still. */
static void erase(int row, int column) {
  column -= column == page.columns;
  for (; column < MOST_COLUMNS; column++)
    page.cells[row][column][0] = '\0';
}

static bool is_sequence(const char *known) {
  return strcmp(page.sequence, known) == 0;
}

static void obey(void) {
  char last = page.sequence[page.sequence_length - 1];
  if (is_sequence("[H")) {
    page.row = page.column = 0;
  } else if (is_sequence("[K")) {
    erase(page.row, page.column);
  } else if (is_sequence("[J")) {
    erase(page.row, page.column);
    for (int row = page.row + 1; row < MOST_ROWS; row++)
      erase(row, 0);
  } else if (is_sequence("[?1049h") || is_sequence("[?1049l")) {
    page.other_page = last == 'h';
  } else if (is_sequence("[?25h") || is_sequence("[?25l")) {
    page.cursor_hidden = last == 'l';
  } else {
    cr_assert_eq(last, 'm', "sequence %s", page.sequence);
  }
}

static void show(const char *byte) {
  if (page.sequence_length > 0 || *byte == '\033') {
    if (*byte != '\033')
      page.sequence[page.sequence_length - 1] = *byte;
    page.sequence_length++;
    cr_assert(page.sequence_length < sizeof page.sequence);
    page.sequence[page.sequence_length - 1] = '\0';
    if (page.sequence_length > 2 && *byte >= '@') {
      page.sequence_length--;
      obey();
      page.sequence_length = 0;
    }
  } else if (*byte == '\r') {
    page.column = 0;
  } else if (*byte == '\n') {
    page.row++;
    cr_assert(page.row < page.rows, "the page has scrolled");
  } else if (((unsigned char)*byte & 0xc0) == 0x80) {
    char *cell = page.cells[page.row][page.column - 1];
    size_t length = strlen(cell);
    cr_assert(length < sizeof page.cells[0][0] - 1);
    cell[length] = *byte;
    cell[length + 1] = '\0';
  } else {
    cr_assert(page.column < page.columns, "row %d is wider than %d", page.row, page.columns);
    memcpy(page.cells[page.row][page.column++], (const char[]){*byte, '\0'}, 2);
  }
}

/* Shows what comes within so many milliseconds; false when nothing does, or it has ended. */
static bool read_more(int milliseconds) {
  char bytes[4096];
  struct pollfd event = {.fd = page.fd, .events = POLLIN};
  ssize_t got = poll(&event, 1, milliseconds) > 0 ? read(page.fd, bytes, sizeof bytes) : 0;
  for (ssize_t i = 0; i < got; i++)
    show(&bytes[i]);
  return got > 0;
}

static const char *page_text(void) {
  size_t length = 0;
  for (int row = 0; row < page.rows; row++) {
    for (int column = 0; column < page.columns; column++)
      length += (size_t)snprintf(screen + length, sizeof screen - length, "%s", page.cells[row][column]);
    length += (size_t)snprintf(screen + length, sizeof screen - length, "\n");
  }
  return screen;
}

void terminal_start(const struct fixture *fixture, int rows, int columns, const char *word, ...) {
  memset(&page, 0, sizeof page);
  page.rows = rows;
  page.columns = columns;
  va_list more;
  va_start(more, word);
  page.fd = start_on(fixture, (struct winsize){.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns},
                     &page.process, word, more);
  va_end(more);
}

static const char *wait_for(const char *words, bool wanted, double seconds) {
  double until = give_up_at(seconds);
  for (;;) {
    while (read_more(50))
      ;
    if ((strstr(page_text(), words) != NULL) == wanted)
      return screen;
    cr_assert(seconds_now() < until, "\"%s\" is %s in\n%s", words, wanted ? "not" : "still", screen);
  }
}

const char *terminal_wait(const char *words, double seconds) {
  return wait_for(words, true, seconds);
}

const char *terminal_wait_without(const char *words, double seconds) {
  return wait_for(words, false, seconds);
}

void terminal_resize(int rows, int columns) {
  struct winsize window = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns};
  while (read_more(50))
    ;
  page.rows = rows;
  page.columns = columns;
  cr_assert_eq(ioctl(page.fd, TIOCSWINSZ, &window), 0);
}

void terminal_type(const char *keys) {
  cr_assert_eq(write(page.fd, keys, strlen(keys)), (ssize_t)strlen(keys));
}

int terminal_end(double seconds) {
  int ended;
  double until = give_up_at(seconds);
  do {
    read_more(50);
    cr_assert(seconds_now() < until, "it has not ended; there stands\n%s", page_text());
  } while (waitpid(page.process, &ended, WNOHANG) == 0);
  while (read_more(50))
    ;
  close(page.fd);
  cr_assert(!page.other_page && !page.cursor_hidden);
  return exit_status(ended);
}
