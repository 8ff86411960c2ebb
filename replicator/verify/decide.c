#include "verify/decide.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/interrupt.h"
#include "postgres/number.h"
#include "postgres/result.h"
#include "queries.h"

/* How many rows are looked at together, and queued together. */
#define SLICE ((size_t)1000)
#define ARRAY_LIMIT ((size_t)256 * 1024 * 1024)
/* Milliseconds between looks at the queue, and at rows that have just changed. */
#define SHORTEST_PAUSE 5
#define LONGEST_PAUSE 200
#define LEAST_PATIENCE 1000
#define DESERTED 3000 /* after which nobody waits for a process, that may be just starting, unless asked to */
/* A table may have so many columns. */
#define MOST_COLUMNS 1664

/* Columns of the lookup at the source; with a key the first is a number from 1 on, else the row's hash. */
enum { COLUMN_WHICH, COLUMN_STATE, COLUMN_KEY, COLUMN_CHANGED, COLUMN_REFUSED };

/* Steps 1 and 2. */
struct moment {
  char *snapshot;     /* owned */
  int64_t last_id;    /* nothing that it sees has a larger id */
  int64_t settled_id; /* of everything up to here it knows what has become of it */
  char *queued;       /* owned; the keys of which something is queued, a JSON array */
};

void decider_init(struct decider *decider) {
  horizon_init(&decider->horizon);
  keys_init(&decider->suspects);
  keys_init(&decider->repairs);
}

void decider_release(struct decider *decider) {
  horizon_release(&decider->horizon);
  keys_release(&decider->suspects);
  keys_release(&decider->repairs);
}

void decider_forget(struct decider *decider) {
  keys_clear(&decider->suspects);
  keys_clear(&decider->repairs);
}

static int64_t pause_for(int64_t milliseconds) {
  struct timespec pause = {.tv_sec = milliseconds / 1000, .tv_nsec = (milliseconds % 1000) * 1000000};
  nanosleep(&pause, NULL);
  return 2 * milliseconds < LONGEST_PAUSE ? 2 * milliseconds : LONGEST_PAUSE;
}

/* ---- what is certain to have arrived --------------------------------------------------------------------------- */

static bool take_moment(struct decider *decider, struct moment *moment, struct error *error) {
  struct number target = number(decider->settings->target);
  struct question questions[] = {
      {.side = SIDE_SOURCE, .query = QUERY_ONCE(QUERY_verify_floor), .values = VALUES(target.text)},
      {.side = SIDE_SOURCE, .query = QUERY_ONCE(QUERY_verify_mark), .values = NO_VALUES},
  };
  /* What is known of the writers must be older than the snapshot. */
  if (!horizon_advance(&decider->horizon, decider->pair->source, error) ||
      !pair_ask(decider->pair, questions, 2, error))
    return false;
  int64_t horizon = atomic_load(&decider->horizon.id);
  moment->settled_id = result_bigint(questions[0].reply, 0, 0);
  if (horizon > moment->settled_id)
    moment->settled_id = horizon;
  moment->snapshot = strdup(PQgetvalue(questions[1].reply, 0, 0));
  moment->last_id = result_bigint(questions[1].reply, 0, 1);
  pair_forget(questions, 2);
  return moment->snapshot != NULL || error_set(error, FAILURE_RETRY, "out of memory");
}

/* Whether it makes no sense to wait for a target in this state. */
static bool is_hopeless(struct decider *decider, const char *state) {
  if (strcmp(state, "paused") == 0 || strcmp(state, "halted") == 0)
    return true;
  if (strcmp(state, "not running") != 0)
    decider->deserted_since = 0;
  else if (decider->deserted_since == 0)
    decider->deserted_since = clock_now();
  return decider->deserted_since != 0 && !decider->asked_to && clock_now() - decider->deserted_since >= DESERTED;
}

/* Step 2. moment->queued stays NULL when it is too much to tell, for longer than there is patience. */
static bool see_queue(struct decider *decider, const struct plan *plan, struct moment *moment, struct error *error) {
  struct number target = number(decider->settings->target);
  struct number last_id = number(moment->last_id);
  struct number capture = number(plan->capture);
  for (int64_t pause = SHORTEST_PAUSE;; pause = pause_for(pause)) {
    struct question question = {.side = SIDE_SOURCE,
                                .query = QUERY_ONCE(QUERY_verify_queued),
                                .values = VALUES(target.text, last_id.text, capture.text)};
    if (interrupted())
      return error_set(error, FAILURE_STOP, "interrupted");
    if (!pair_ask(decider->pair, &question, 1, error))
      return false;
    const char *keys = PQgetvalue(question.reply, 0, QUEUED_KEYS);
    const char *state = PQgetvalue(question.reply, 0, QUEUED_STATE);
    bool told = !result_bool(question.reply, 0, QUEUED_TOO_MUCH);
    bool any = strcmp(keys, "[]") != 0 || !told;
    snprintf(decider->waits, sizeof decider->waits, "%s", any ? state : "");
    bool ends = told || is_hopeless(decider, state) || clock_now() >= decider->until;
    if (told)
      moment->queued = strdup(keys);
    pair_forget(&question, 1);
    if (ends)
      return !told || moment->queued != NULL || error_set(error, FAILURE_RETRY, "out of memory");
  }
}

/* ---- repair ---------------------------------------------------------------------------------------------------- */

bool decider_repair(struct decider *decider, const struct plan *plan, struct error *error) {
  struct keys *repairs = &decider->repairs;
  struct buffer array;
  buffer_init(&array, ARRAY_LIMIT);
  bool ok = true;
  for (size_t begin = 0; ok && begin < repairs->count; begin += SLICE) {
    PGresult *reply = NULL;
    const struct query requeue = QUERY_ONCE(QUERY_verify_requeue);
    const struct query rebuild = QUERY_ONCE(QUERY_verify_rebuild);
    buffer_clear(&array);
    keys_write(repairs, begin, SLICE, false, &array);
    ok = buffer_ok(&array, "the list of keys", error) &&
         (plan->oid != NULL
              ? source_run(decider->control, &requeue, VALUES(plan->oid, decider->settings->name, array.data), &reply,
                           error)
              : source_run(decider->control, &rebuild, VALUES(decider->settings->name, array.data), &reply, error));
    if (ok)
      decider->report->queued += result_bigint(reply, 0, 0);
    PQclear(reply);
  }
  buffer_release(&array);
  keys_clear(repairs);
  return ok;
}

/* ---- rows with a key ------------------------------------------------------------------------------------------- */

/* Which elements of two array literals differ, as names of columns. Elements hold no comma, nor quotes. */
static size_t compare_elements(const char *here, const char *there, const PGresult *columns, const char **names) {
  size_t count = 0;
  for (int i = 0; i < PQntuples(columns) && count < MOST_COLUMNS; i++) {
    here++;
    there++;
    size_t length = strcspn(here, ",}");
    if (length != strcspn(there, ",}") || strncmp(here, there, length) != 0)
      names[count++] = PQgetvalue(columns, i, 0);
    here += length;
    there += strcspn(there, ",}");
    if (*here != ',' || *there != ',')
      break;
  }
  return count;
}

/* The first suspects, looked up on both sides. */
struct lookup {
  size_t count;
  const PGresult *here; /* the source's reply */
  const PGresult *there;
  bool changed[SLICE]; /* those that have, and so are not settled */
};

/* What is known of one of the rows that are looked up. Rows of replies count from 1 on; 0 is none. */
struct found {
  const char *suspect; /* its key */
  const char *there;   /* the target's row; NULL: it has none */
  int64_t here_count;  /* how many rows have that key */
  int64_t there_count;
  int row;       /* of the source's reply */
  int different; /* the same, one that is not like the target's */
  bool equal;
  bool changed;
};

/* Whether both sides have the row alike, and as often. A table that has a unique index on its key has it once. */
static bool is_settled(const struct found *found) {
  return found->equal && found->here_count == found->there_count;
}

static bool report_row(struct decider *decider, const struct plan *plan, const PGresult *source,
                       const struct found *found, struct error *error) {
  int row = (found->equal ? found->row : found->different) - 1;
  const char *here = result_text(source, row, COLUMN_STATE);
  if (here == NULL && plan->shared_with != NULL)
    return true; /* it may be the other table's */
  const char *names[MOST_COLUMNS];
  struct difference difference = {
      .kind = found->there == NULL ? DIFFERENCE_MISSING
              : here == NULL       ? DIFFERENCE_EXTRA
                                   : DIFFERENCE_DIFFERENT,
      .key = result_text(source, row, COLUMN_KEY),
      .columns = names,
      .reason = result_text(source, row, COLUMN_REFUSED),
  };
  if (difference.key == NULL) {
    difference.key = found->suspect;
    difference.has_null = true;
  }
  if (found->equal) {
    bool fewer = found->there_count < found->here_count;
    difference.kind = fewer ? DIFFERENCE_MISSING : DIFFERENCE_EXTRA;
    difference.copies = fewer ? found->here_count - found->there_count : found->there_count - found->here_count;
  } else if (here != NULL && found->there != NULL && report_has_room(decider->report)) {
    difference.column_count = compare_elements(here, found->there, plan->columns, names);
  }
  report_difference(decider->report, &difference);
  /* Of rows with the same key a target can hold no more than one, however often they are queued. */
  return !decider->repair || difference.has_null || found->here_count > 1 ||
         keys_add(&decider->repairs, difference.key, error);
}

static void read_rows(struct found *found, const PGresult *source, const PGresult *target) {
  for (int row = 0; row < PQntuples(target); row++) {
    struct found *one = &found[result_bigint(target, row, COLUMN_WHICH) - 1];
    one->there = PQgetvalue(target, row, COLUMN_STATE);
    one->there_count++;
  }
  for (int row = 0; row < PQntuples(source); row++) {
    struct found *one = &found[result_bigint(source, row, COLUMN_WHICH) - 1];
    const char *here = result_text(source, row, COLUMN_STATE);
    one->row = row + 1;
    one->here_count += here != NULL;
    if (here == NULL ? one->there == NULL : one->there != NULL && strcmp(here, one->there) == 0)
      one->equal = true;
    else
      one->different = row + 1;
    one->changed = one->changed || result_bool(source, row, COLUMN_CHANGED);
  }
}

/*
 * For each row: whether the source's reply has settled it, which it has not where the row has changed, as is known
 * already or is said there.
 */
static bool decide_rows(struct decider *decider, const struct plan *plan, struct lookup *lookup, struct error *error) {
  struct found *found = calloc(lookup->count + 1, sizeof *found);
  if (found == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  bool ok = true;
  read_rows(found, lookup->here, lookup->there);
  for (size_t i = 0; ok && i < lookup->count; i++) {
    found[i].suspect = decider->suspects.texts[i];
    bool settled = is_settled(&found[i]);
    lookup->changed[i] = (lookup->changed[i] || found[i].changed) && !settled;
    if (found[i].row > 0 && !settled && !lookup->changed[i])
      ok = report_row(decider, plan, lookup->here, &found[i], error);
  }
  free(found);
  return ok;
}

/* ---- rows without a key ---------------------------------------------------------------------------------------- */

/* -1: there is none. */
static int find_hash(const PGresult *reply, const char *hash) {
  int row = PQntuples(reply) - 1;
  while (row >= 0 && strcmp(PQgetvalue(reply, row, COLUMN_WHICH), hash) != 0)
    row--;
  return row;
}

static void decide_copies(struct decider *decider, const struct plan *plan, struct lookup *lookup) {
  const PGresult *source = lookup->here;
  const PGresult *target = lookup->there;
  for (size_t i = 0; i < lookup->count; i++) {
    int row = find_hash(source, decider->suspects.texts[i]);
    int other = find_hash(target, decider->suspects.texts[i]);
    if (row < 0)
      continue;
    int64_t here = result_bigint(source, row, COLUMN_STATE);
    int64_t there = other < 0 ? 0 : result_bigint(target, other, COLUMN_STATE);
    if (here == there || (here < there && plan->shared_with != NULL))
      continue;
    lookup->changed[i] = result_bool(source, row, COLUMN_CHANGED);
    if (lookup->changed[i])
      continue;
    struct difference difference = {.kind = here > there ? DIFFERENCE_MISSING : DIFFERENCE_EXTRA,
                                    .key = here > 0 ? PQgetvalue(source, row, COLUMN_KEY)
                                                    : PQgetvalue(target, other, COLUMN_KEY),
                                    .copies = here > there ? here - there : there - here};
    report_difference(decider->report, &difference);
    report_keyless(decider->report, difference.copies);
  }
}

/* Puts those of the suspects that were looked up and have changed behind all others. */
static bool keep_changed(struct keys *suspects, const struct lookup *lookup, struct error *error) {
  struct keys again;
  bool ok = true;
  keys_init(&again);
  for (size_t i = 0; ok && i < lookup->count; i++)
    ok = !lookup->changed[i] || keys_add(&again, suspects->texts[i], error);
  keys_drop(suspects, 0, lookup->count);
  for (size_t i = 0; ok && i < again.count; i++)
    ok = keys_add(suspects, again.texts[i], error);
  keys_release(&again);
  return ok;
}

/* Steps 3 and 4, for the first suspects. */
static bool look_up(struct decider *decider, const struct plan *plan, const struct moment *moment, size_t count,
                    struct error *error) {
  struct buffer array;
  struct number settled_id = number(moment->settled_id);
  buffer_init(&array, ARRAY_LIMIT);
  keys_write(&decider->suspects, 0, count, !plan->keyless, &array);
  struct question there = plan_question(plan, SIDE_TARGET, ASK_LOOKUP, VALUES(array.data));
  struct question here = plan_question(plan, SIDE_SOURCE, ASK_LOOKUP,
                                       VALUES(array.data, settled_id.text, moment->snapshot, moment->queued));
  bool ok = buffer_ok(&array, "the list of keys", error) && pair_ask(decider->pair, &there, 1, error) &&
            pair_ask(decider->pair, &here, 1, error);
  struct lookup lookup = {.count = count, .here = here.reply, .there = there.reply};
  if (ok && plan->keyless)
    decide_copies(decider, plan, &lookup);
  else if (ok)
    ok = decide_rows(decider, plan, &lookup, error);
  ok = ok && keep_changed(&decider->suspects, &lookup, error);
  pair_forget(&there, 1);
  pair_forget(&here, 1);
  buffer_release(&array);
  return ok;
}

/* ---- documents ------------------------------------------------------------------------------------------------- */

/* Until nothing of what was given out by now is queued. *passed: it is so, rather than out of patience. */
static bool let_pass(struct decider *decider, bool *passed, struct error *error) {
  struct question mark = {.side = SIDE_SOURCE, .query = QUERY_ONCE(QUERY_verify_mark), .values = NO_VALUES};
  *passed = false;
  if (!pair_ask(decider->pair, &mark, 1, error))
    return false;
  struct number target = number(decider->settings->target);
  struct number last_id = number(result_bigint(mark.reply, 0, 1));
  pair_forget(&mark, 1);
  for (int64_t pause = SHORTEST_PAUSE;; pause = pause_for(pause)) {
    struct question question = {.side = SIDE_SOURCE,
                                .query = QUERY_ONCE(QUERY_verify_queued),
                                .values = VALUES(target.text, last_id.text, NULL)};
    if (interrupted())
      return error_set(error, FAILURE_STOP, "interrupted");
    if (!pair_ask(decider->pair, &question, 1, error))
      return false;
    *passed = !result_bool(question.reply, 0, QUEUED_ANY);
    snprintf(decider->waits, sizeof decider->waits, "%s", *passed ? "" : PQgetvalue(question.reply, 0, QUEUED_STATE));
    pair_forget(&question, 1);
    if (*passed || is_hopeless(decider, decider->waits) || clock_now() >= decider->until)
      return true;
  }
}

/* The array literal for the document's query; it quotes as JSON does. Suspects are JSON arrays of one text. */
static void write_document_keys(const struct keys *suspects, size_t count, struct buffer *literal) {
  buffer_add_string(literal, "{");
  for (size_t i = 0; i < count; i++) {
    const char *text = suspects->texts[i];
    buffer_add_string(literal, i > 0 ? "," : "");
    buffer_add(literal, text + 1, strlen(text) - 2);
  }
  buffer_add_string(literal, "}");
}

static void mark_changed(const PGresult *before, const PGresult *after, bool *changed) {
  for (int row = 0; row < PQntuples(before) && row < PQntuples(after); row++) {
    const char *first = result_text(before, row, COLUMN_STATE);
    const char *second = result_text(after, row, COLUMN_STATE);
    if (first == NULL || second == NULL ? first != second : strcmp(first, second) != 0)
      changed[result_bigint(after, row, COLUMN_WHICH) - 1] = true;
  }
}

static bool look_up_documents(struct decider *decider, const struct plan *plan, size_t count, bool *passed,
                              struct error *error) {
  struct buffer array;
  struct buffer literal;
  buffer_init(&array, ARRAY_LIMIT);
  buffer_init(&literal, ARRAY_LIMIT);
  keys_write(&decider->suspects, 0, count, true, &array);
  write_document_keys(&decider->suspects, count, &literal);
  struct question before = plan_question(plan, SIDE_SOURCE, ASK_LOOKUP, VALUES(literal.data));
  struct question after = before;
  struct question there = plan_question(plan, SIDE_TARGET, ASK_LOOKUP, VALUES(array.data));
  *passed = false;
  /* What was queued for the document when it was claimed is there when the first is over. */
  bool ok = buffer_ok(&array, "the list of keys", error) && buffer_ok(&literal, "the list of keys", error) &&
            pair_ask(decider->pair, &before, 1, error) && let_pass(decider, passed, error) &&
            (!*passed || let_pass(decider, passed, error));
  if (ok && *passed) {
    ok = pair_ask(decider->pair, &there, 1, error) && pair_ask(decider->pair, &after, 1, error);
    struct lookup lookup = {.count = count, .here = after.reply, .there = there.reply};
    if (ok)
      mark_changed(before.reply, after.reply, lookup.changed);
    ok = ok && decide_rows(decider, plan, &lookup, error) && keep_changed(&decider->suspects, &lookup, error);
  }
  pair_forget(&before, 1);
  pair_forget(&after, 1);
  pair_forget(&there, 1);
  buffer_release(&array);
  buffer_release(&literal);
  return ok;
}

static bool look_at_documents(struct decider *decider, const struct plan *plan, struct error *error) {
  bool ok = true;
  bool passed = true;
  for (size_t left = decider->suspects.count; ok && passed && left > 0;) {
    size_t count = left < SLICE ? left : SLICE;
    ok = look_up_documents(decider, plan, count, &passed, error);
    left -= count;
  }
  return ok;
}

/* ---- all of it ------------------------------------------------------------------------------------------------- */

/* All suspects once. */
static bool look_at_all(struct decider *decider, const struct plan *plan, struct error *error) {
  struct moment moment = {.snapshot = NULL};
  bool ok = take_moment(decider, &moment, error) && see_queue(decider, plan, &moment, error);
  size_t left = moment.queued != NULL ? decider->suspects.count : 0;
  while (ok && left > 0) {
    size_t count = left < SLICE ? left : SLICE;
    ok = look_up(decider, plan, &moment, count, error);
    left -= count;
  }
  free(moment.snapshot);
  free(moment.queued);
  return ok;
}

/*
 * How long these suspects may take. A wait that decided nothing is spent; each table has a little of its own, once, in
 * which what is only just on its way arrives.
 */
static int64_t patience_left(const struct decider *decider) {
  int64_t left = decider->patience > decider->spent ? decider->patience - decider->spent : 0;
  int64_t least = decider->patience < LEAST_PATIENCE ? decider->patience : LEAST_PATIENCE;
  return left < least && decider->report->undecided == 0 ? least : left;
}

static void give_up(struct decider *decider, const struct plan *plan, int64_t began) {
  decider->spent += clock_now() - began;
  for (size_t i = 0; i < decider->suspects.count; i++)
    report_undecided(decider->report, plan->keyless ? NULL : decider->suspects.texts[i]);
  keys_clear(&decider->suspects);
}

bool decider_decide(struct decider *decider, const struct plan *plan, struct error *error) {
  int64_t began = clock_now();
  decider->until = began + patience_left(decider);
  for (int64_t pause = SHORTEST_PAUSE; decider->suspects.count > 0; pause = pause_for(pause)) {
    if (!(plan->oid != NULL ? look_at_all : look_at_documents)(decider, plan, error))
      return false;
    if (decider->suspects.count > 0 && (clock_now() >= decider->until || is_hopeless(decider, decider->waits)))
      give_up(decider, plan, began);
  }
  return true;
}
