/*
 * target: a place where changes go. A kind of target is a table of functions; a new kind is a new file in targets/,
 * which defines TARGET_NAME, and one line in target.c; `make options` then tells the schema and README.md of it.
 *
 * A target knows its own wire and nothing of queues: it gets changes in order and says whether it has them.
 */
#ifndef ROWRELAY_TARGETS_TARGET_H
#define ROWRELAY_TARGETS_TARGET_H

#include "common/buffer.h"
#include "source/change.h"
#include "source/settings.h"
#include "source/source.h"
#include "targets/target_option.h"
#include "targets/verdict.h"

/* What is to be pushed: all of it is delivered, or none, or as the verdicts say. */
struct push {
  const struct change *const *changes; /* in order of ids */
  size_t count;
  const int *lanes; /* of the claim that they are from, ascending */
  size_t lane_count;
  int64_t token;            /* of that claim; a later claim of a lane has a larger one */
  int64_t first_id;         /* what is older in these lanes is settled */
  bool routes_are_new;      /* the attempt before this one failed, and they were read since */
  const char *target;       /* its name, for hints */
  struct verdict *verdicts; /* one for each change, see verdict.h; here it also says what it answered */
  bool (*still_ours)(void *claimer, struct error *error); /* see push_is_still_ours(); NULL: there is no claim */
  void *claimer;
};

/*
 * To be called where the target is well, and cannot take the table of a capture as it is: the table's changes will be
 * held, and the others of the push pushed again. `error` says why; it becomes a FAILURE_TABLE. Always false.
 */
bool push_hold(const struct push *push, int capture, struct error *error);

/*
 * Whether the claim holds, and for as long as a push may take. Who has no fence to keep late requests out asks this
 * before each request; if not, others may be pushing what comes next, and nothing more is to be sent.
 */
MUST_CHECK bool push_is_still_ours(const struct push *push, struct error *error);

/* What its URLs begin with. A table of them ends with a row without a scheme. */
struct target_url {
  const char *scheme;
  const char *example; /* NULL: another way to write the one before */
  const char *help;    /* what is there, without a full stop; NULL as well */
};

/* What a URL has to look like; the schema checks it. A table of them ends with a row without a pattern. */
struct target_url_rule {
  const char *pattern; /* a regular expression of PostgreSQL */
  bool forbidden;      /* a URL that matches is wrong, else one that does not */
  const char *problem; /* behind "target URL "…" " */
  const char *hint;    /* a sentence; SCHEME is replaced */
};

struct target_kind {
  const char *name; /* for people, behind "options of " */
  const struct target_url *urls;
  const struct target_url_rule *url_rules;    /* NULL: none */
  const struct target_option *const *options; /* tables of what only some kinds have; ends with NULL */
  /* The URL is a path, or nothing: there is nobody to whom a password in it could be told. */
  bool is_path;
  /* It holds rows as they are, not every change of them, unless option mode is append. */
  bool keeps_state;
  /* A row takes the place of another with its key, so two tables share no place there unless that is wanted. */
  bool overwrites;
  /* open() only reads URL and options, without `source`: whoever starts can find out that something is missing */
  bool opens_alone;
  /* captured_at, txid and actor of each change are wanted */
  bool (*wants_details)(const struct settings *settings);
  /*
   * `url` has its ${NAME}s filled in. Settings and source are borrowed and outlive the handle. On success *handle is
   * for close().
   */
  bool (*open)(void **handle, const struct settings *settings, const char *url, struct source *source,
               struct error *error);
  /*
   * Blocks until the target has the changes for good, or the settings' push_timeout is over. Errors: FAILURE_REFUSED
   * (some of the changes are at fault), FAILURE_TABLE (its place for one of the tables is: which one, the verdicts say,
   * unless nobody knows), FAILURE_LATE (there was no answer in time; then a push of nothing tells whether it is well),
   * FAILURE_FENCED (a later claim has been here), else the target is at fault, and will be closed.
   */
  bool (*push)(void *handle, const struct push *push, struct error *error);
  /* Sends something harmless, and appends what came back; NULL: that it can be opened says enough. */
  bool (*test)(void *handle, struct buffer *answer, struct error *error);
  void (*close)(void *handle);
};

/* All of them, in the order of the help; ends with NULL. */
extern const struct target_kind *const TARGET_KINDS[];

struct target;

/* The kind that a URL is of; FAILURE_USAGE when there is none. */
MUST_CHECK bool target_find_kind(const char *url, const struct target_kind **kind, struct error *error);

/* Whether it holds rows as they are, not every change of them. */
bool target_keeps_state(const struct target_kind *kind, const struct settings *settings);

/* Whether all is there that the target's URL and options name: variables of the environment, files. FAILURE_USAGE. */
MUST_CHECK bool target_check(const struct settings *settings, struct error *error);

MUST_CHECK bool target_open(struct target **target, const struct target_kind *kind, const struct settings *settings,
                            struct source *source, struct error *error);
MUST_CHECK bool target_push(struct target *target, const struct push *push, struct error *error);
/* Appends what a test says; FAILURE kinds as with a push. */
MUST_CHECK bool target_test(struct target *target, struct buffer *answer, struct error *error);
/* NULL is allowed. */
void target_close(struct target *target);

#endif
