#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"

#define BAR_WIDTH 20
#define BAR_INTERVAL 100    /* milliseconds */
#define LINE_INTERVAL 10000 /* milliseconds */
/* A rate of less time than this, in milliseconds, says nothing. */
#define LEAST_TIME 500

#define ERASE_LINE "\r\033[K"

void progress_begin(struct progress *progress, const char *what, int64_t done) {
  int64_t now = clock_now();
  *progress = (struct progress){
      .what = what, .terminal = isatty(STDOUT_FILENO) == 1, .began_at = now, .began_with = done, .shown_at = now};
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

static void print_bar(int64_t done, int64_t total) {
  int filled = (int)(done * BAR_WIDTH / total);
  putchar('[');
  for (int i = 0; i < BAR_WIDTH; i++)
    putchar(i < filled ? '#' : '.');
  fputs("] ", stdout);
}

static void print_time(int64_t seconds) {
  if (seconds >= 3600)
    printf("%lld:%02d:%02d h", (long long)(seconds / 3600), (int)(seconds / 60 % 60), (int)(seconds % 60));
  else if (seconds >= 60)
    printf("%d:%02d min", (int)(seconds / 60), (int)(seconds % 60));
  else
    printf("%d s", (int)seconds);
}

static void print_line(const struct progress *progress, int64_t done, int64_t total, const char *note) {
  char rows[PROGRESS_NUMBER_SIZE];
  char all[PROGRESS_NUMBER_SIZE];
  char speed[PROGRESS_NUMBER_SIZE];
  int64_t time = clock_now() - progress->began_at;
  int64_t rate = time >= LEAST_TIME ? (done - progress->began_with) * 1000 / time : 0;
  printf("%s: ", progress->what);
  /* An estimate that turned out too low is one no more. */
  if (total < done || total < 1)
    total = done > 0 ? done : 1;
  if (progress->terminal)
    print_bar(done, total);
  printf("%d %%, %s of about %s rows", (int)(done * 100 / total), progress_number(rows, done),
         progress_number(all, total));
  if (rate > 0) {
    printf(", %s/s, ", progress_number(speed, rate));
    print_time((total - done) / rate);
    fputs(" left", stdout);
  }
  if (note[0] != '\0')
    printf(" (%s)", note);
}

void progress_show(struct progress *progress, int64_t done, int64_t total, const char *note) {
  int64_t now = clock_now();
  bool news = note[0] != '\0' && strcmp(note, progress->note) != 0;
  snprintf(progress->note, sizeof progress->note, "%s", note);
  if (!news && now - progress->shown_at < (progress->terminal ? BAR_INTERVAL : LINE_INTERVAL))
    return;
  progress->shown_at = now;
  if (progress->terminal)
    fputs(ERASE_LINE, stdout);
  print_line(progress, done, total, note);
  if (!progress->terminal)
    putchar('\n');
  progress->shown = true;
  fflush(stdout);
}

void progress_end(struct progress *progress) {
  if (progress->terminal && progress->shown)
    fputs(ERASE_LINE, stdout);
  progress->shown = false;
}
