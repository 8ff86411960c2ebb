/*
 * error: why something did not work, carried from where it happened to the one place that tells somebody.
 *
 * A function that can fail returns bool, true for success, and fills a `struct error` that its caller
 * owns; nothing is allocated. Texts follow PostgreSQL's manner: a message in lower case that names the object, a
 * detail with the facts, a hint that says what to do.
 */
#ifndef ROWRELAY_COMMON_ERROR_H
#define ROWRELAY_COMMON_ERROR_H

#include <stdbool.h>

#define MUST_CHECK __attribute__((warn_unused_result))

/* What the caller can do about it. */
enum failure {
  FAILURE_NONE,      /* nothing failed */
  FAILURE_USAGE,     /* a person must ask for something else: exit status 2 */
  FAILURE_RETRY,     /* the other side is away or busy: the same again later may work */
  FAILURE_LATE,      /* it took longer than it may, which is the other side's fault or that of the data */
  FAILURE_REFUSED,   /* the other side is well and does not accept this data */
  FAILURE_TABLE,     /* the other side is well, and its place for one table is not: the changes of that one wait */
  FAILURE_GONE,      /* the other side wants no more, for good: stop until a person says otherwise */
  FAILURE_FENCED,    /* another process has claimed the lane since: let go of it */
  FAILURE_STOP,      /* this process was told to stop */
  FAILURE_DIFFERENT, /* what was compared is not the same: exit status 3 */
  FAILURE_FATAL      /* none of these: exit status 1 */
};

struct error {
  enum failure kind;
  int retry_after;  /* milliseconds to wait, where the other side said so; else 0 */
  char sqlstate[6]; /* PostgreSQL's code where it was PostgreSQL that answered, else "" */
  char message[1024];
  char detail[1024];
  char hint[1024];
};

/* Makes `error` say nothing. */
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
