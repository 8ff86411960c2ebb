#include "verify/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/interrupt.h"
#include "common/shell.h"
#include "common/text.h"
#include "postgres/number.h"
#include "postgres/result.h"
#include "queries.h"
#include "verify/decide.h"
#include "verify/tally.h"

/* Rows of the first range, and of any. */
#define FIRST_RANGE 500
#define SMALLEST_RANGE 50
#define LARGEST_RANGE 65536
/* Blocks of the first range, where it is one of blocks. */
#define FIRST_BLOCKS 1024
/* Milliseconds that a range may take before the next one is smaller, and that it must take before it is larger. */
#define LONG_RANGE 800
#define SHORT_RANGE 200
/* Powers of two: buckets of a range that differs, and of a table that is read as a whole. */
#define BUCKETS_OF_RANGE 256
#define BUCKETS_OF_TABLE 16384
/* So few rows are fetched without looking for the buckets that differ. */
#define FEW_ROWS 1000
/* Suspects are decided on when there are so many. */
#define MANY_SUSPECTS 5000
#define ARRAY_LIMIT ((size_t)1024 * 1024)

/* Columns of the reply to sum; see verify_statements.sql. */
enum { SUM_COUNT, SUM_SUM };

struct verify {
  const struct verify_options *options;
  struct settings *settings; /* owned */
  struct pair pair;
  struct report report;
  struct decider decider;
  struct recipe recipe;
  int wanted;         /* tables and documents */
  bool is_partial;    /* of the table at hand not all is found until columns are added there, or altered */
  int failed;         /* that could not be compared; */
  struct error first; /* why the first of them could not */
};

/* A range of keys, as JSON arrays; NULL: no bound. */
struct range {
  const char *behind;
  const char *up_to;
  const char *keys; /* of documents: an array literal of all that there are at the source; else NULL */
};

/* ---- narrowing down -------------------------------------------------------------------------------------------- */

/* What both sides are asked. */
struct inquiry {
  const struct plan *plan;
  enum ask ask;
  const struct range *range; /* NULL: the whole table, by blocks */
  const char *chosen;        /* an array literal of buckets, NULL for all */
};

/* Asks for a range. */
static bool ask_both(struct verify *verify, const struct inquiry *inquiry, struct question questions[SIDE_COUNT],
                     struct error *error) {
  const struct range *range = inquiry->range;
  bool built = range->keys != NULL;
  struct number mask = number(BUCKETS_OF_RANGE - 1);
  const char *here[] = {built ? range->keys : range->behind, built ? NULL : range->up_to, mask.text, inquiry->chosen};
  const char *there[] = {range->behind, range->up_to, mask.text, inquiry->chosen};
  int count = inquiry->ask == ASK_SUM ? 2 : inquiry->ask == ASK_BUCKETS ? 3 : 4;
  for (int side = 0; side < SIDE_COUNT; side++)
    questions[side] = plan_question(inquiry->plan, (enum side)side, inquiry->ask,
                                    (struct values){.count = count, .texts = side == SIDE_SOURCE ? here : there});
  return pair_ask(&verify->pair, questions, SIDE_COUNT, error);
}

static enum tally_columns columns_of(const struct inquiry *inquiry) {
  if (inquiry->ask == ASK_BUCKETS)
    return TALLY_COUNT_AND_SUM;
  return inquiry->plan->keyless ? TALLY_COUNT : TALLY_HASH;
}

/* Asks for the buckets or rows of a range on both sides. */
static bool tally_range(struct verify *verify, const struct inquiry *inquiry, struct tally tallies[SIDE_COUNT],
                        struct error *error) {
  struct question questions[SIDE_COUNT];
  bool ok = ask_both(verify, inquiry, questions, error);
  for (int side = 0; ok && side < SIDE_COUNT; side++)
    ok = tally_add(&tallies[side], questions[side].reply, columns_of(inquiry), error);
  pair_forget(questions, SIDE_COUNT);
  return ok;
}

/* The same, range by range of blocks: what either side has in such a range has nothing to do with the other's. */
static bool tally_blocks(struct verify *verify, const struct inquiry *inquiry, struct tally tallies[SIDE_COUNT],
                         struct error *error) {
  const struct plan *plan = inquiry->plan;
  int64_t next[SIDE_COUNT] = {0, 0}; /* -1: all was read */
  int64_t size = FIRST_BLOCKS;
  bool ok = true;
  while (ok && (next[SIDE_SOURCE] >= 0 || next[SIDE_TARGET] >= 0)) {
    struct question questions[SIDE_COUNT];
    char bounds[SIDE_COUNT][2][48];
    const char *texts[SIDE_COUNT][4];
    struct number mask = number(BUCKETS_OF_TABLE - 1);
    size_t count = 0;
    int64_t began = clock_now();
    for (int side = 0; side < SIDE_COUNT; side++) {
      if (next[side] < 0)
        continue;
      bool last = next[side] + size >= plan->blocks[side];
      snprintf(bounds[side][0], sizeof bounds[side][0], "[\"(%s,0)\"]", number(next[side]).text);
      snprintf(bounds[side][1], sizeof bounds[side][1], "[\"(%s,0)\"]", number(next[side] + size).text);
      texts[side][0] = next[side] == 0 ? NULL : bounds[side][0];
      texts[side][1] = last ? NULL : bounds[side][1];
      texts[side][2] = mask.text;
      texts[side][3] = inquiry->chosen;
      questions[count] =
          plan_question(plan, (enum side)side, inquiry->ask,
                        (struct values){.count = inquiry->ask == ASK_BUCKETS ? 3 : 4, .texts = texts[side]});
      count++;
      next[side] = last ? -1 : next[side] + size;
    }
    ok = pair_ask(&verify->pair, questions, count, error);
    for (size_t i = 0; ok && i < count; i++)
      ok = tally_add(&tallies[questions[i].side], questions[i].reply, columns_of(inquiry), error);
    pair_forget(questions, count);
    int64_t elapsed = clock_now() - began;
    if (elapsed < SHORT_RANGE)
      size *= 2;
    else if (elapsed > LONG_RANGE && size > 1)
      size /= 2;
  }
  return ok;
}

/* Adds the names under which the sides differ. *rows is how many the source has under all. */
static bool tally_both(struct verify *verify, const struct inquiry *inquiry, struct keys *names, int64_t *rows,
                       struct error *error) {
  struct tally tallies[SIDE_COUNT];
  for (int side = 0; side < SIDE_COUNT; side++)
    tally_init(&tallies[side]);
  bool ok =
      (inquiry->range != NULL ? tally_range : tally_blocks)(verify, inquiry, tallies, error) &&
      tally_compare(&tallies[SIDE_SOURCE], &tallies[SIDE_TARGET], inquiry->plan->shared_with == NULL, names, error);
  *rows = tally_rows(&tallies[SIDE_SOURCE]);
  for (int side = 0; side < SIDE_COUNT; side++)
    tally_release(&tallies[side]);
  return ok;
}

/* Finds the buckets that differ, as an array literal, or "". *rows is how many the source has in all buckets. */
static bool find_buckets(struct verify *verify, const struct inquiry *inquiry, struct buffer *array, int64_t *rows,
                         struct error *error) {
  struct keys names;
  keys_init(&names);
  bool ok = tally_both(verify, inquiry, &names, rows, error);
  for (size_t i = 0; i < names.count; i++)
    buffer_add_format(array, "%c%s", i == 0 ? '{' : ',', names.texts[i]);
  buffer_add_string(array, names.count > 0 ? "}" : "");
  ok = ok && buffer_ok(array, "the list of buckets", error);
  keys_release(&names);
  return ok;
}

/* Adds the rows that differ to the suspects; `chosen` is an array literal of buckets, NULL for all. */
static bool find_rows(struct verify *verify, const struct plan *plan, const struct range *range, const char *chosen,
                      struct error *error) {
  int64_t unused;
  struct keys *suspects = &verify->decider.suspects;
  struct inquiry inquiry = {.plan = plan, .ask = ASK_ROWS, .range = range, .chosen = chosen};
  return tally_both(verify, &inquiry, suspects, &unused, error) &&
         (suspects->count < MANY_SUSPECTS || decider_decide(&verify->decider, plan, error));
}

static bool narrow(struct verify *verify, const struct plan *plan, const struct range *range, int64_t *rows,
                   struct error *error) {
  struct buffer chosen;
  struct inquiry inquiry = {.plan = plan, .ask = ASK_BUCKETS, .range = range};
  buffer_init(&chosen, ARRAY_LIMIT);
  bool ok = find_buckets(verify, &inquiry, &chosen, rows, error) &&
            (buffer_is_empty(&chosen) || find_rows(verify, plan, range, chosen.data, error));
  buffer_release(&chosen);
  return ok;
}

/* ---- a table --------------------------------------------------------------------------------------------------- */

/* The last key of the next `size` rows of one side; NULL when there are fewer. *bound is the caller's to free. */
static bool read_bound(const PGresult *reply, char **bound, struct error *error) {
  *bound = NULL;
  if (PQntuples(reply) == 0)
    return true;
  *bound = strdup(PQgetvalue(reply, 0, 0));
  return *bound != NULL || error_set(error, FAILURE_RETRY, "out of memory");
}

/* What the next range is to be. */
struct stretch {
  char *behind;   /* as in struct range; owned */
  int size;       /* so many rows, */
  enum side side; /* of this side */
};

static bool find_bound(struct verify *verify, const struct plan *plan, const struct stretch *stretch, char **bound,
                       struct error *error) {
  struct number size = number(stretch->size);
  struct question question = plan_question(plan, stretch->side, ASK_BOUNDARY, VALUES(stretch->behind, size.text));
  *bound = NULL;
  if (!pair_ask(&verify->pair, &question, 1, error))
    return false;
  bool ok = read_bound(question.reply, bound, error);
  pair_forget(&question, 1);
  return ok;
}

/* Compares one range. */
static bool compare_range(struct verify *verify, const struct plan *plan, const struct range *range,
                          struct error *error) {
  struct question questions[SIDE_COUNT];
  struct inquiry inquiry = {.plan = plan, .ask = ASK_SUM, .range = range};
  if (!ask_both(verify, &inquiry, questions, error))
    return false;
  int64_t here = result_bigint(questions[SIDE_SOURCE].reply, 0, SUM_COUNT);
  int64_t there = result_bigint(questions[SIDE_TARGET].reply, 0, SUM_COUNT);
  bool same = here == there && strcmp(PQgetvalue(questions[SIDE_SOURCE].reply, 0, SUM_SUM),
                                      PQgetvalue(questions[SIDE_TARGET].reply, 0, SUM_SUM)) == 0;
  pair_forget(questions, SIDE_COUNT);
  report_rows(&verify->report, here);
  if (same)
    return true;
  int64_t unused;
  return here <= FEW_ROWS && there <= FEW_ROWS ? find_rows(verify, plan, range, NULL, error)
                                               : narrow(verify, plan, range, &unused, error);
}

/* The same for documents, whose keys have to be known first. */
static bool compare_documents(struct verify *verify, const struct plan *plan, const struct range *range,
                              struct error *error) {
  struct question question = plan_question(plan, SIDE_SOURCE, ASK_KEYS, VALUES(range->behind, range->up_to));
  if (!pair_ask(&verify->pair, &question, 1, error))
    return false;
  struct range with_keys = {.behind = range->behind, .up_to = range->up_to, .keys = PQgetvalue(question.reply, 0, 0)};
  bool ok = compare_range(verify, plan, &with_keys, error);
  pair_forget(&question, 1);
  return ok;
}

static int next_size(int size, int64_t milliseconds) {
  if (milliseconds > LONG_RANGE)
    return size / 2 > SMALLEST_RANGE ? size / 2 : SMALLEST_RANGE;
  if (milliseconds < SHORT_RANGE)
    return 2 * size < LARGEST_RANGE ? 2 * size : LARGEST_RANGE;
  return size;
}

/* The source says where ranges end, and behind its last key the target does. */
static bool compare_ranges(struct verify *verify, const struct plan *plan, struct error *error) {
  struct stretch stretch = {.size = FIRST_RANGE, .side = SIDE_SOURCE};
  bool ok = true;
  for (bool last = false; ok && !last;) {
    char *up_to = NULL;
    ok = find_bound(verify, plan, &stretch, &up_to, error);
    if (ok && up_to == NULL && stretch.side == SIDE_SOURCE) {
      stretch.side = SIDE_TARGET;
      continue;
    }
    last = up_to == NULL;
    struct range range = {.behind = stretch.behind, .up_to = up_to};
    int64_t began = clock_now();
    ok = ok && (plan->oid != NULL ? compare_range(verify, plan, &range, error)
                                  : compare_documents(verify, plan, &range, error));
    stretch.size = next_size(stretch.size, clock_now() - began);
    free(stretch.behind);
    stretch.behind = up_to;
  }
  free(stretch.behind);
  return ok;
}

/* One table that is not there, or may not be read, must not keep the others from being compared. */
static bool put_aside(struct verify *verify, const char *name, struct error *error) {
  if ((error->kind != FAILURE_FATAL && error->kind != FAILURE_REFUSED) || verify->wanted == 1)
    return false;
  report_not_compared(&verify->report, name, error->message);
  if (verify->failed++ == 0)
    verify->first = *error;
  error_clear(error);
  return true;
}

/* For its progress alone. */
static bool estimate(struct verify *verify, const char *oid, struct error *error) {
  struct question question = {.side = SIDE_SOURCE, .query = QUERY_ONCE(QUERY_verify_estimate), .values = VALUES(oid)};
  verify->report.estimate = 0;
  if (!verify->options->progress || oid == NULL)
    return true;
  if (!pair_ask(&verify->pair, &question, 1, error))
    return false;
  verify->report.estimate = result_bigint(question.reply, 0, 0);
  pair_forget(&question, 1);
  return true;
}

/* `oid` is NULL for a document. */
static bool compare(struct verify *verify, const struct settings *settings, const char *oid, const char *name,
                    struct error *error) {
  struct plan plan;
  verify->decider.settings = settings;
  struct subject subject = {.target = settings->target, .oid = oid, .relation = name};
  bool ok = plan_make(&plan, &verify->pair, &subject, &verify->recipe, error) && estimate(verify, oid, error);
  if (ok) {
    report_table_begin(
        &verify->report, name,
        &(struct caveats){.missing = plan.missing, .coarse = plan.coarse, .shared_with = plan.shared_with});
    verify->is_partial = plan.missing != NULL || (plan.coarse != NULL && plan.may_be_altered);
    ok = plan.nothing     ? true
         : plan.in_ranges ? compare_ranges(verify, &plan, error)
                          : narrow(verify, &plan, NULL, &verify->report.rows, error);
    bool decided = ok && (plan.nothing || (decider_decide(&verify->decider, &plan, error) &&
                                           decider_repair(&verify->decider, &plan, error)));
    report_table_end(&verify->report, decided);
    if (!decided)
      decider_forget(&verify->decider);
    ok = decided || put_aside(verify, name, error);
  } else {
    ok = put_aside(verify, name, error);
  }
  plan_release(&plan);
  return ok;
}

/* ---- all tables ------------------------------------------------------------------------------------------------ */

/* The servers may not agree on the fast hash function: then md5 has to do. */
static bool probe(struct verify *verify, struct error *error) {
  struct question questions[] = {{.side = SIDE_SOURCE, .query = QUERY_ONCE(QUERY_verify_probe), .values = NO_VALUES},
                                 {.side = SIDE_TARGET, .query = QUERY_ONCE(QUERY_verify_probe), .values = NO_VALUES}};
  if (!pair_ask(&verify->pair, questions, 2, error))
    return false;
  verify->recipe.md5_only = strcmp(PQgetvalue(questions[0].reply, 0, 0), PQgetvalue(questions[1].reply, 0, 0)) != 0;
  pair_forget(questions, 2);
  return true;
}

static void write_array(size_t count, const char *const *texts, struct buffer *array) {
  buffer_add_string(array, "[");
  for (size_t i = 0; i < count; i++) {
    buffer_add_string(array, i > 0 ? "," : "");
    buffer_add_json_string(array, texts[i]);
  }
  buffer_add_string(array, "]");
}

/* What is to be compared, and the errors where there is nothing of that name. */
static bool find(const struct verify *verify, struct source *source, PGresult **tables, PGresult **documents,
                 struct error *error) {
  const struct verify_options *options = verify->options;
  struct buffer patterns;
  struct buffer names;
  bool all = options->pattern_count == 0 && options->document_count == 0;
  buffer_init(&patterns, ARRAY_LIMIT);
  buffer_init(&names, ARRAY_LIMIT);
  write_array(options->pattern_count, options->patterns, &patterns);
  write_array(options->document_count, options->documents, &names);
  struct number target = number(verify->settings->target);
  const struct query find_tables = QUERY_ONCE(QUERY_verify_tables);
  const struct query find_documents = QUERY_ONCE(QUERY_verify_documents);
  /* Names are meant as the user's search_path has them, so this is not for the pair. */
  bool ok = buffer_ok(&patterns, "the list of tables", error) && buffer_ok(&names, "the list of documents", error) &&
            source_run(source, &find_tables, VALUES(target.text, all ? NULL : patterns.data), tables, error) &&
            source_run(source, &find_documents, VALUES(target.text, all ? NULL : names.data), documents, error);
  buffer_release(&patterns);
  buffer_release(&names);
  if (!ok)
    return false;
  for (int row = 0; row < PQntuples(*tables); row++)
    if (PQgetisnull(*tables, row, VERIFY_TABLE_OID))
      return error_set(error, FAILURE_USAGE, "no table routed to target \"%s\" matches \"%s\"", options->target,
                       PQgetvalue(*tables, row, VERIFY_TABLE_PATTERN));
  for (int row = 0; row < PQntuples(*documents); row++)
    if (PQgetisnull(*documents, row, VERIFY_DOCUMENT_NAMED_NUMBER))
      return error_set(error, FAILURE_USAGE, "no document \"%s\" belongs to target \"%s\"",
                       PQgetvalue(*documents, row, VERIFY_DOCUMENT_NAMED_NAME), options->target);
  if (PQntuples(*tables) > 0 || PQntuples(*documents) > 0)
    return true;
  error_set(error, FAILURE_USAGE, "no table is routed to target \"%s\"", options->target);
  struct shell_word word;
  return error_hint(error, "run: rowrelay route TABLE %s", shell_quote(&word, options->target));
}

static bool tell(const struct verify *verify, struct error *error) {
  const struct report *report = &verify->report;
  const char *name = verify->settings->name;
  if (report->all_found > 0) {
    error_set(error, FAILURE_DIFFERENT, "target \"%s\" differs in %lld row%s", name, (long long)report->all_found,
              text_plural(report->all_found));
    if (report->all_queued > 0)
      return error_hint(error, "%lld row%s queued again; run verify once more when %s been delivered",
                        (long long)report->all_queued, report->all_queued == 1 ? " was" : "s were",
                        report->all_queued == 1 ? "it has" : "they have");
    if (report->all_keyless == report->all_found) {
      struct shell_word table_word;
      struct shell_word word;
      return error_hint(
          error,
          "rows without a key cannot be queued again: run: rowrelay backfill %s --to %s; it waits until you have %s %s "
          "there",
          shell_quote(&table_word, report->keyless_table), shell_quote(&word, name),
          report->keyless_is_shared ? "deleted the rows of" : "emptied", report->keyless_table);
    }
    if (verify->options->repair)
      return error_hint(error, "none could be queued again: rows without a unique key cannot be identified, and a "
                               "row that is being written will be queued by that");
    return error_hint(error, "to queue these rows again, add --repair");
  }
  if (verify->failed > 0) {
    *error = verify->first;
    if (verify->failed > 1)
      error_detail(error, "%d more could not be compared", verify->failed - 1);
    return false;
  }
  if (report->all_undecided > 0) {
    const char *waits = verify->decider.waits;
    struct shell_word word;
    error_set(error, FAILURE_RETRY, "%lld row%s of %s could not be compared", (long long)report->all_undecided,
              text_plural(report->all_undecided), report->undecided_tables);
    if (waits[0] != '\0')
      error_detail(error, "their changes wait for target \"%s\", which is %s", name, waits);
    else
      error_detail(error, "they kept changing");
    if (strcmp(waits, "paused") == 0 || strcmp(waits, "halted") == 0)
      return error_hint(error, "run: rowrelay target resume %s", shell_quote(&word, name));
    if (strcmp(waits, "not running") == 0)
      return error_hint(error, "run: rowrelay run --until-empty --target %s", shell_quote(&word, name));
    return error_hint(error, "try again, or wait longer with --wait SECONDS");
  }
  return true;
}

/* What was noted to be missing at a target has been looked for, and queued. */
struct gap {
  int target;          /* or document */
  const char *capture; /* NULL: all */
  const char *noted;   /* NULL: nothing was */
  int failed;          /* how many could not be compared before */
};

static bool close_gap(struct verify *verify, struct gap gap, struct error *error) {
  const struct report *report = &verify->report;
  int64_t found = 0;
  for (int kind = 0; kind < DIFFERENCE_KIND_COUNT; kind++)
    found += report->found[kind];
  if (gap.noted == NULL || verify->is_partial || verify->failed > gap.failed || report->undecided > 0 ||
      report->queued < found)
    return true;
  const struct query query = QUERY_ONCE(QUERY_verify_close_gap);
  const struct number target = number(gap.target);
  return source_run(verify->decider.control, &query, VALUES(target.text, gap.capture, gap.noted), NULL, error);
}

static bool compare_table(struct verify *verify, const PGresult *tables, int row, struct error *error) {
  const char *name = PQgetvalue(tables, row, VERIFY_TABLE_NAME);
  const char *capture_again = result_text(tables, row, VERIFY_TABLE_CAPTURE_AGAIN);
  if (capture_again == NULL) {
    const struct gap gap = {.target = verify->settings->target,
                            .capture = PQgetvalue(tables, row, VERIFY_TABLE_CAPTURE),
                            .noted = result_text(tables, row, VERIFY_TABLE_GAP),
                            .failed = verify->failed};
    return compare(verify, verify->settings, PQgetvalue(tables, row, VERIFY_TABLE_OID), name, error) &&
           close_gap(verify, gap, error);
  }
  const char *present = result_text(tables, row, VERIFY_TABLE_PRESENT_NAME);
  if (present == NULL)
    error_set(error, FAILURE_FATAL, "table %s was dropped, and the one that has its name now is not captured", name);
  else
    error_set(error, FAILURE_FATAL, "table %s was renamed to %s, and the one that has its name now is not captured",
              name, present);
  error_hint(error, "to capture it again: %s", capture_again);
  return put_aside(verify, name, error);
}

static bool compare_all(struct verify *verify, struct source *source, const PGresult *tables, const PGresult *documents,
                        struct error *error) {
  bool ok = true;
  for (int row = 0; ok && row < PQntuples(tables); row++)
    ok = compare_table(verify, tables, row, error);
  for (int row = 0; ok && row < PQntuples(documents); row++) {
    struct settings *settings = NULL;
    const char *name = PQgetvalue(documents, row, VERIFY_DOCUMENT_NAMED_NAME);
    struct gap gap = {.noted = result_text(documents, row, VERIFY_DOCUMENT_NAMED_GAP), .failed = verify->failed};
    ok = settings_load(&settings, source, name, error) && compare(verify, settings, NULL, name, error);
    gap.target = settings != NULL ? settings->target : 0;
    ok = ok && close_gap(verify, gap, error);
    verify->decider.settings = verify->settings;
    settings_free(settings);
  }
  return ok;
}

static bool run(struct verify *verify, struct source *source, struct error *error) {
  PGresult *tables = NULL;
  PGresult *documents = NULL;
  PGresult *token = NULL;
  bool ok = find(verify, source, &tables, &documents, error) && probe(verify, error) &&
            pgconn_run(verify->pair.connections[SIDE_SOURCE], &QUERY_instance_new_id, NO_VALUES, &token, error);
  if (ok) {
    verify->wanted = PQntuples(tables) + PQntuples(documents);
    verify->recipe.token = PQgetvalue(token, 0, 0);
    report_begin(&verify->report, verify->settings->name);
    ok = compare_all(verify, source, tables, documents, error);
    report_end(&verify->report, verify->pair.rows_received, verify->pair.bytes_received);
    ok = ok && tell(verify, error);
  }
  PQclear(token);
  PQclear(tables);
  PQclear(documents);
  return ok;
}

bool verify_run(const struct verify_options *options, struct source *source, struct error *error) {
  struct verify verify = {.options = options,
                          .report = {.json = options->json, .progress = options->progress, .limit = options->limit}};
  verify.decider = (struct decider){.pair = &verify.pair,
                                    .control = source,
                                    .report = &verify.report,
                                    .patience = options->patience,
                                    .asked_to = options->asked_to,
                                    .repair = options->repair};
  decider_init(&verify.decider);
  bool ok = settings_load(&verify.settings, source, options->target, error) &&
            pair_open(&verify.pair, options->conninfo, verify.settings, error) && run(&verify, source, error);
  if (!ok && interrupted())
    error_set(error, FAILURE_STOP, "interrupted before the comparison finished");
  pair_release(&verify.pair);
  decider_release(&verify.decider);
  settings_free(verify.settings);
  return ok;
}
