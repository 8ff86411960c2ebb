#include "terminal/progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/buffer.h"
#include "common/clock.h"
#include "common/text.h"

#define BAR_WIDTH 20
#define LINE_LIMIT ((size_t)4096)
/* Milliseconds. */
#define BAR_INTERVAL 100
#define LINE_INTERVAL 10000
#define MARK_INTERVAL 10000
#define LEAST_TIME 500 /* a rate of less than that says nothing */

#define ERASE_LINE "\r\033[K"

void progress_begin(struct progress *progress, const char *what, int64_t done) {
  int64_t now = clock_now();
  *progress = (struct progress){.what = what,
                                .unit = "rows",
                                .terminal = isatty(STDOUT_FILENO) == 1,
                                .began_at = now,
                                .shown_at = now,
                                .older = {.at = now, .done = done},
                                .newer = {.at = now, .done = done}};
}

const char *progress_number(char text[PROGRESS_NUMBER_SIZE], int64_t value) {
  char digits[PROGRESS_NUMBER_SIZE];
  int length = snprintf(digits, sizeof digits, "%lld", (long long)value);
  int written = 0;
  for (int i = 0; i < length && written < PROGRESS_NUMBER_SIZE - 2; i++) {
    if (i > 0 && (length - i) % 3 == 0 && digits[i - 1] != '-')
      text[written++] = ',';
    text[written++] = digits[i];
  }
  text[written] = '\0';
  return text;
}

double progress_seconds(const struct progress *progress) {
  return (double)(clock_now() - progress->began_at) / 1000;
}

static void add_bar(struct buffer *line, int64_t done, int64_t total) {
  int filled = (int)(done * BAR_WIDTH / total);
  buffer_add_string(line, "[");
  for (int i = 0; i < BAR_WIDTH; i++)
    buffer_add_string(line, i < filled ? "#" : ".");
  buffer_add_string(line, "] ");
}

static void add_time(struct buffer *line, int64_t seconds) {
  if (seconds >= 3600)
    buffer_add_format(line, "%lld:%02d:%02d h", (long long)(seconds / 3600), (int)(seconds / 60 % 60),
                      (int)(seconds % 60));
  else if (seconds >= 60)
    buffer_add_format(line, "%d:%02d min", (int)(seconds / 60), (int)(seconds % 60));
  else
    buffer_add_format(line, "%d s", (int)seconds);
}

/* Rows per second; 0: not known yet. */
static int64_t measure_rate(struct progress *progress, int64_t now, int64_t done) {
  if (now - progress->newer.at >= MARK_INTERVAL) {
    progress->older = progress->newer;
    progress->newer = (struct progress_mark){.at = now, .done = done};
  }
  int64_t time = now - progress->older.at;
  return time >= LEAST_TIME ? (done - progress->older.done) * 1000 / time : 0;
}

/* How far it is. */
struct stand {
  int64_t done;
  int64_t total; /* an estimate */
  int64_t rate;  /* rows per second; 0: not known */
};

static void write_line(struct buffer *line, const struct progress *progress, struct stand stand, const char *note) {
  int64_t done = stand.done;
  int64_t total = stand.total;
  char rows[PROGRESS_NUMBER_SIZE];
  char all[PROGRESS_NUMBER_SIZE];
  char speed[PROGRESS_NUMBER_SIZE];
  buffer_add_format(line, "%s: ", progress->what);
  /* An estimate that turned out too low is one no more. */
  if (total < done || total < 1)
    total = done > 0 ? done : 1;
  if (progress->terminal)
    add_bar(line, done, total);
  buffer_add_format(line, "%d %%, %s of about %s %s", (int)(done * 100 / total), progress_number(rows, done),
                    progress_number(all, total), progress->unit);
  if (note[0] != '\0') {
    buffer_add_format(line, " (%s)", note);
  } else if (stand.rate > 0) {
    buffer_add_format(line, ", %s/s, ", progress_number(speed, stand.rate));
    add_time(line, (total - done) / stand.rate);
    buffer_add_string(line, " left");
  }
}

/* A line that is too long for the terminal could not be taken back. */
static int fitting_length(const struct progress *progress, const struct buffer *line) {
  struct winsize window;
  size_t length = line->length;
  if (progress->terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1 &&
      length >= window.ws_col) {
    length = (size_t)window.ws_col - 1;
    while (length > 0 && (line->data[length] & 0xC0) == 0x80) /* not within a character */
      length--;
  }
  return (int)length;
}

void progress_show(struct progress *progress, int64_t done, int64_t total, const char *note) {
  int64_t now = clock_now();
  struct stand stand = {.done = done, .total = total, .rate = measure_rate(progress, now, done)};
  bool news = note[0] != '\0' && strcmp(note, progress->note) != 0;
  text_print(progress->note, sizeof progress->note, "%s", note);
  if (!news && now - progress->shown_at < (progress->terminal ? BAR_INTERVAL : LINE_INTERVAL))
    return;
  progress->shown_at = now;
  struct buffer line;
  buffer_init(&line, LINE_LIMIT);
  write_line(&line, progress, stand, note);
  printf("%s%.*s%s", progress->terminal ? ERASE_LINE : "", fitting_length(progress, &line), line.data,
         progress->terminal ? "" : "\n");
  buffer_release(&line);
  progress->shown = true;
  fflush(stdout);
}

void progress_end(struct progress *progress) {
  if (progress->terminal && progress->shown)
    fputs(ERASE_LINE, stdout);
  progress->shown = false;
}
