#include "terminal/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/interrupt.h"
#include "common/wake.h"

#define TAKE "\033[?1049h\033[?25l" /* another page than the shell's, and no cursor */
#define GIVE_BACK "\033[?25h\033[?1049l"
#define ERASE_LINE "\033[K" /* from the cursor on */
#define ERASE_REST "\033[J" /* of the page */
#define LARGEST_PAGE ((size_t)1024 * 1024)

/* Of a terminal that does not say it. */
#define USUAL_ROWS 24
#define USUAL_COLUMNS 80

static const int SIGNALS[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP};
#define SIGNAL_COUNT (sizeof SIGNALS / sizeof SIGNALS[0])

/* There is one terminal, and signal handlers must know it. */
static struct {
  int keys;         /* the terminal, to read from; -1: nothing can be typed */
  struct wake wake; /* a signal came */
  struct termios before;
  struct sigaction handlers[SIGNAL_COUNT]; /* as they were */
} screen = {.keys = -1, .wake = {-1, -1}};

static volatile sig_atomic_t leave;
static volatile sig_atomic_t resized;
static volatile sig_atomic_t suspended;

static void note_signal(int number) {
  if (number == SIGWINCH)
    resized = 1;
  else if (number == SIGTSTP)
    suspended = 1;
  else
    leave = 1;
  wake_up(&screen.wake);
}

static bool is_told_to_leave(void) {
  return leave != 0;
}

static bool put(const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t written = write(STDOUT_FILENO, bytes, length);
    if (written < 0 && errno != EINTR)
      return false;
    bytes += written > 0 ? written : 0;
    length -= written > 0 ? (size_t)written : 0;
  }
  return true;
}

/* Keys come one by one, and are not shown. */
static bool take_terminal(void) {
  if (screen.keys >= 0) {
    struct termios raw = screen.before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    tcsetattr(screen.keys, TCSADRAIN, &raw);
  }
  return put(TAKE, strlen(TAKE));
}

static void give_back_terminal(void) {
  put(GIVE_BACK, strlen(GIVE_BACK));
  if (screen.keys >= 0)
    tcsetattr(screen.keys, TCSADRAIN, &screen.before);
}

bool screen_begin(struct error *error) {
  leave = resized = suspended = 0;
  if (!wake_open(&screen.wake))
    return error_set(error, FAILURE_FATAL, "could not create a pipe: %s", strerror(errno));
  screen.keys = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (screen.keys >= 0 && tcgetattr(screen.keys, &screen.before) != 0) {
    close(screen.keys);
    screen.keys = -1;
  }
  struct sigaction action = {.sa_handler = note_signal};
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < SIGNAL_COUNT; i++)
    sigaction(SIGNALS[i], &action, &screen.handlers[i]);
  interrupt_set(is_told_to_leave);
  if (take_terminal())
    return true;
  error_set(error, FAILURE_FATAL, "could not write to the terminal: %s", strerror(errno));
  screen_end();
  return false;
}

void screen_end(void) {
  give_back_terminal();
  interrupt_set(NULL);
  for (size_t i = 0; i < SIGNAL_COUNT; i++)
    sigaction(SIGNALS[i], &screen.handlers[i], NULL);
  if (screen.keys >= 0)
    close(screen.keys);
  wake_close(&screen.wake);
  screen.keys = -1;
}

void screen_size(int *rows, int *columns) {
  struct winsize window;
  bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0;
  *rows = known && window.ws_row > 0 ? window.ws_row : USUAL_ROWS;
  *columns = known && window.ws_col > 0 ? window.ws_col : USUAL_COLUMNS;
}

bool screen_draw(const struct buffer *text, struct error *error) {
  struct buffer page;
  buffer_init(&page, LARGEST_PAGE);
  buffer_add_string(&page, "\033[H");
  /*
   * Each line is erased just before it is written, and all goes out at once, so nothing flickers. Not after it: behind
   * the last column that would take the last character. The last line does not scroll.
   */
  const char *line = text->length > 0 ? text->data : "";
  do {
    size_t length = strcspn(line, "\n");
    const char *next = line + length + (line[length] == '\n');
    buffer_add_string(&page, *next != '\0' ? ERASE_LINE : ERASE_REST);
    buffer_add(&page, line, length);
    buffer_add_string(&page, *next != '\0' ? "\r\n" : "");
    line = next;
  } while (*line != '\0');
  bool ok = buffer_ok(&page, "a page", error);
  if (ok && !put(page.data, page.length))
    ok = error_set(error, FAILURE_FATAL, "could not write to the terminal: %s", strerror(errno));
  buffer_release(&page);
  return ok;
}

static void suspend(void) {
  give_back_terminal();
  raise(SIGSTOP);
  suspended = 0;
  take_terminal();
}

/* Reads what was typed. False when the terminal is gone. */
static bool read_keys(bool *due) {
  char keys[64];
  ssize_t count = read(screen.keys, keys, sizeof keys);
  for (ssize_t i = 0; i < count; i++) {
    if (keys[i] == 'q' || keys[i] == 'Q')
      leave = 1;
    if (keys[i] == ' ' || keys[i] == '\n')
      *due = true;
  }
  return count > 0 || (count < 0 && errno == EINTR);
}

enum screen_event screen_wait(int64_t milliseconds) {
  int64_t until = clock_now() + milliseconds;
  for (;;) {
    if (leave != 0)
      return SCREEN_LEAVE;
    if (suspended != 0) {
      suspend();
      return SCREEN_RESIZED;
    }
    if (resized != 0) {
      resized = 0;
      return SCREEN_RESIZED;
    }
    int64_t rest = until - clock_now();
    if (rest <= 0)
      return SCREEN_DUE;
    struct pollfd events[] = {{.fd = screen.wake.fd, .events = POLLIN}, {.fd = screen.keys, .events = POLLIN}};
    if (poll(events, 2, rest > INT32_MAX ? INT32_MAX : (int)rest) <= 0)
      continue;
    wake_clear(&screen.wake);
    bool due = false;
    if (events[1].revents != 0 && !read_keys(&due))
      leave = 1;
    if (due)
      return SCREEN_DUE;
  }
}
