/*
 * error: why something failed, carried from where it happened to the one place that reports it.
 *
 * A function that can fail returns bool, true for success, and fills a `struct error` that its caller
 * owns; nothing is allocated. Texts follow PostgreSQL's style: a message in lower case that names the object, a
 * detail with the facts, a hint that tells what to do.
 */
#ifndef ROWRELAY_COMMON_ERROR_H
#define ROWRELAY_COMMON_ERROR_H

#include <stdbool.h>

#define MUST_CHECK __attribute__((warn_unused_result))

/* What the caller can do about it. */
enum failure {
  FAILURE_NONE,      /* nothing failed */
  FAILURE_USAGE,     /* the request is wrong: exit status 2 */
  FAILURE_RETRY,     /* the other side is unavailable or busy: trying again later may work */
  FAILURE_LATE,      /* it took too long, because of the other side or of the data */
  FAILURE_REFUSED,   /* the other side works, but refuses this data */
  FAILURE_TABLE,     /* the other side works, but cannot take one table: the changes of that one wait */
  FAILURE_GONE,      /* the other side wants no more, ever: stop until a person resumes it */
  FAILURE_FENCED,    /* another process has claimed the lane since: release it */
  FAILURE_STOP,      /* this process was told to stop */
  FAILURE_DIFFERENT, /* a comparison found differences: exit status 3 */
  FAILURE_FATAL      /* none of these: exit status 1 */
};

struct error {
  enum failure kind;
  int retry_after;  /* milliseconds to wait, if the other side asked for that; else 0 */
  long long newer;  /* FAILURE_FENCED: number of the later claim; 0: not known */
  char sqlstate[6]; /* PostgreSQL's code, or a target's own such as an HTTP status; "": none */
  char message[1024];
  char detail[1024];
  char hint[1024];
};

/* Makes it FAILURE_NONE, without texts. */
void error_clear(struct error *error);

/*
 * Fill in kind and message (and forget detail, hint and sqlstate). Both return false, so that a function can end with
 * `return error_set(...)`. Texts longer than the field are cut. `error` may be NULL.
 */
bool error_set(struct error *error, enum failure kind, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Add to an error that error_set() made; both return false too. */
bool error_detail(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool error_hint(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
