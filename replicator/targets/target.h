/*
 * target: a place where changes go. A kind of target is a table of functions; a new kind is a new file in targets/,
 * which defines TARGET_NAME, and one line in target.c; `make options` then tells the schema and README.md of it.
 *
 * A target knows its own protocol and nothing of queues: it gets changes in order and reports whether it has them.
 */
#ifndef ROWRELAY_TARGETS_TARGET_H
#define ROWRELAY_TARGETS_TARGET_H

#include "common/buffer.h"
#include "source/change.h"
#include "source/settings.h"
#include "source/source.h"
#include "targets/target_option.h"
#include "targets/verdict.h"

/* What to push: all of it is delivered, or none, or what the verdicts tell. */
struct push {
  const struct change *const *changes; /* in order of ids */
  size_t count;
  const int *lanes; /* of the claim, ascending */
  size_t lane_count;
  int64_t token;            /* of the claim; a later claim of a lane has a larger one */
  int64_t first_id;         /* everything older in these lanes is settled */
  bool routes_are_new;      /* the previous attempt failed, and they were read again since */
  const char *target;       /* its name, for hints */
  const char *traceparent;  /* of the batch that is pushed, for requests of several changes; "" or NULL: none */
  struct verdict *verdicts; /* one for each change, see verdict.h; also takes the answer */
  bool (*still_ours)(void *claimer, struct error *error); /* see push_is_still_ours(); NULL: there is no claim */
  void *claimer;
};

/*
 * To be called when the target works but cannot take the table of a capture as it is: the table's changes will be held,
 * and the others of the push are pushed again. `error` says why; it becomes a FAILURE_TABLE. Always false.
 */
bool push_hold(const struct push *push, int capture, struct error *error);

/*
 * Whether the claim still holds, for at least as long as a push may take. A target without a fence against late
 * requests asks this right before each request, after whatever it had to wait for; if false, others may be pushing what
 * comes next, and nothing more may be sent.
 */
MUST_CHECK bool push_is_still_ours(const struct push *push, struct error *error);

/* A URL scheme. A table of them ends with a row without a scheme. */
struct target_url {
  const char *scheme;
  const char *example; /* NULL: an alias of the one before */
  const char *help;    /* without a full stop; NULL for an alias */
};

/* A rule for URLs, which the schema checks. A table of them ends with a row without a pattern. */
struct target_url_rule {
  const char *pattern; /* a regular expression of PostgreSQL */
  bool forbidden;      /* a URL must not match; else it must */
  const char *problem; /* follows "target URL "…" " */
  const char *hint;    /* a sentence; SCHEME is replaced */
};

struct target_kind {
  const char *name; /* as in "options of webhook targets" */
  const struct target_url *urls;
  const struct target_url_rule *url_rules;    /* NULL: none */
  const struct target_option *const *options; /* tables of the options beyond those of every target; ends with NULL */
  /* Default of this option; NULL: as for most kinds. */
  const char *batch_rows;
  /* Name of the library that it was built without; then it has no functions but wants_details. NULL: none. */
  const char *lacks;
  /* The URL is a path, or empty, and holds no password. */
  bool is_path;
  /* It holds current rows rather than every change, unless option mode is append. */
  bool keeps_state;
  /* Rows with the same key overwrite each other, so two tables share a place there only if that is asked for. */
  bool overwrites;
  /* open() only reads URL and options, and takes no `source`: a starting process uses it to check them. */
  bool opens_alone;
  /* open() looks whether the target has lost what it had: a starting process asks also where nothing is pending. */
  bool looks_at_start;
  /* test() writes nothing there: doctor may call it. */
  bool test_sends_nothing;
  /* Whether it needs captured_at, txid and actor of each change. */
  bool (*wants_details)(const struct settings *settings);
  /*
   * `url` has its ${NAME}s filled in. Settings and source are borrowed and outlive the handle. On success *handle is
   * for close().
   */
  bool (*open)(void **handle, const struct settings *settings, const char *url, struct source *source,
               struct error *error);
  /*
   * Blocks until the target has stored the changes durably, or push_timeout is over. Errors: FAILURE_REFUSED
   * (some changes are at fault), FAILURE_TABLE (its place for a table is; the verdicts tell which one, if known),
   * FAILURE_LATE (no answer in time; an empty push then tells whether the target works), FAILURE_FENCED (a later claim
   * has passed); any other means that the target is at fault, and it will be closed.
   */
  bool (*push)(void *handle, const struct push *push, struct error *error);
  /*
   * Asked of changes that are settled without a push: to shut out earlier claims of the lanes, as a push does, and to
   * mark as delivered what one of them has stored that would be stored twice if it came again; what push() knows of
   * such changes need not last as long as they may wait. Pushes nothing. NULL: neither is needed.
   */
  bool (*recall)(void *handle, const struct push *push, struct error *error);
  /* Sends something harmless, and appends the answer; NULL: opening it is test enough. */
  bool (*test)(void *handle, struct buffer *answer, struct error *error);
  void (*close)(void *handle);
};

/* All of them, in the order of the help; ends with NULL. */
extern const struct target_kind *const TARGET_KINDS[];

struct target;

/* Finds the kind of a URL; FAILURE_USAGE when there is none. */
MUST_CHECK bool target_find_kind(const char *url, const struct target_kind **kind, struct error *error);

/*
 * Whether this program was built with what targets with such a URL need; otherwise FAILURE_USAGE. Says nothing of a URL
 * that is NULL or of no kind.
 */
MUST_CHECK bool target_check_built(const char *url, struct error *error);

/* Whether it holds current rows rather than every change. */
bool target_keeps_state(const struct target_kind *kind, const struct settings *settings);

/* Whether the environment variables and files exist that URL and options name; otherwise FAILURE_USAGE. */
MUST_CHECK bool target_check(const struct settings *settings, struct error *error);

MUST_CHECK bool target_open(struct target **target, const struct target_kind *kind, const struct settings *settings,
                            struct source *source, struct error *error);
MUST_CHECK bool target_push(struct target *target, const struct push *push, struct error *error);
/* Sets verdicts of the push's changes, see struct target_kind; kinds of failure as with a push. */
MUST_CHECK bool target_recall(struct target *target, const struct push *push, struct error *error);
/* Appends the answer to a test; kinds of failure as with a push. */
MUST_CHECK bool target_test(struct target *target, struct buffer *answer, struct error *error);
/* NULL is allowed. */
void target_close(struct target *target);

#endif
