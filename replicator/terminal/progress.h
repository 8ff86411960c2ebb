/*
 * progress: shows the progress of a long job: on a terminal a bar, elsewhere a line now and then. Both go to stdout.
 */
#ifndef ROWRELAY_TERMINAL_PROGRESS_H
#define ROWRELAY_TERMINAL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
  const char *what; /* name of the job; borrowed */
  const char *unit; /* what is counted, "rows"; borrowed */
  bool terminal;
  bool shown;       /* a bar stands in the terminal's last line */
  int64_t began_at; /* clock_now() */
  int64_t shown_at;
  /* The rate is that since the older mark, 10 to 20 seconds ago. */
  struct progress_mark {
    int64_t at; /* clock_now() */
    int64_t done;
  } older, newer;
  char note[512]; /* that was shown last */
};

/* `done` rows are done already. */
void progress_begin(struct progress *progress, const char *what, int64_t done);

/*
 * `done` of about `total` rows are done; `note` tells what it waits for; "": nothing. Shown at intervals, or
 * when the note changes.
 */
void progress_show(struct progress *progress, int64_t done, int64_t total, const char *note);

/* Removes the bar, so that a last line can be printed. */
void progress_end(struct progress *progress);

/* Seconds since it began. */
double progress_seconds(const struct progress *progress);

/* Numbers for people: 1,234,567. */
#define PROGRESS_NUMBER_SIZE 32
const char *progress_number(char text[PROGRESS_NUMBER_SIZE], int64_t value);

#endif
