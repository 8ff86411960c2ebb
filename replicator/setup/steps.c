#include "setup/steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/call.h"
#include "common/text.h"
#include "setup/file.h"

static const struct {
  const char *plan;
  const char *done;
} VERBS[] = {
    [STEP_ADD] = {"add", "added"},
    [STEP_CHANGE] = {"change", "changed"},
    [STEP_REPLACE] = {"replace", "replaced"},
    [STEP_REMOVE] = {"remove", "removed"},
    [STEP_PAUSE] = {"pause", "paused"},
    [STEP_RESUME] = {"resume", "running"},
};

static void step_free(struct step *step) {
  buffer_release(&step->object);
  buffer_release(&step->details);
  buffer_release(&step->advice);
  for (size_t i = 0; i < step->check_count; i++)
    request_release(&step->checks[i]);
  for (size_t i = 0; i < step->request_count; i++)
    request_release(&step->requests[i]);
  free(step);
}

void steps_release(struct steps *steps) {
  for (size_t i = 0; i < steps->count; i++)
    step_free(steps->items[i]);
  free(steps->items);
  *steps = (struct steps){0};
}

struct step *steps_add(struct steps *steps, enum step_verb verb, const struct tree *place, struct error *error) {
  struct step *step = calloc(1, sizeof *step);
  struct step **grown = step != NULL ? realloc(steps->items, (steps->count + 1) * sizeof *grown) : NULL;
  if (grown == NULL) {
    free(step);
    error_set(error, FAILURE_RETRY, "out of memory");
    return NULL;
  }
  steps->items = grown;
  steps->items[steps->count++] = step;
  step->verb = verb;
  step->place = place;
  buffer_init(&step->object, STEP_WORDS_LIMIT);
  buffer_init(&step->details, STEP_WORDS_LIMIT);
  buffer_init(&step->advice, STEP_WORDS_LIMIT);
  return step;
}

struct request *step_next_request(struct step *step) {
  if (step->request_count == STEP_MOST_REQUESTS)
    abort();
  return &step->requests[step->request_count++];
}

bool step_call(struct step *step, const struct query *query, struct values values, struct error *error) {
  return step != NULL && request_init(step_next_request(step), query, values, error);
}

struct request *step_next_check(struct step *step) {
  if (step->check_count == STEP_MOST_CHECKS)
    abort();
  return &step->checks[step->check_count++];
}

bool step_check_by(struct step *step, const struct query *query, struct values values, struct error *error) {
  return step != NULL && request_init(step_next_check(step), query, values, error);
}

void step_tell(struct step *step, const char *name, const struct tree *wanted, const struct tree *present) {
  if (step == NULL)
    return;
  buffer_add_format(&step->details, "%s%s ", step->details.length > 0 ? ", " : "", name);
  if (step->verb != STEP_ADD) {
    setup_add_words(&step->details, present);
    buffer_add_string(&step->details, " -> ");
  }
  setup_add_words(&step->details, wanted);
}

/* Says where in the file it was, and what was to be done. The server's own words follow. */
static bool fail_step(const struct step *step, const char *file, struct error *error) {
  struct error cause = *error;
  setup_fail(file, step->place, error, "%s: %s", step->object.data, cause.message);
  error->kind = cause.kind;
  error->retry_after = cause.retry_after;
  snprintf(error->sqlstate, sizeof error->sqlstate, "%s", cause.sqlstate);
  error_detail(error, "%s", cause.detail);
  return error_hint(error, "%s", cause.hint);
}

static bool run_checks(const struct steps *steps, struct source *source, const char *file, struct error *error) {
  for (size_t i = 0; i < steps->count; i++) {
    const struct step *step = steps->items[i];
    for (size_t j = 0; j < step->check_count; j++) {
      const struct request *check = &step->checks[j];
      struct values values = {.count = check->count, .texts = (const char *const *)check->values};
      if (!call_run(source, check->query, values, NULL, error))
        return fail_step(step, file, error);
    }
  }
  return true;
}

bool steps_check(const struct steps *steps, struct source *source, const char *file, struct error *error) {
  /* Warnings come when the steps are taken. */
  return source_script(source, "begin isolation level read committed; set local client_min_messages = error", error) &&
         run_checks(steps, source, file, error) && source_script(source, "rollback", error);
}

/* A line, whatever is in a name: what follows it must not become SQL. */
static void add_line(struct buffer *text, const struct step *step, bool is_comment) {
  struct buffer line;
  buffer_init(&line, 2 * STEP_WORDS_LIMIT);
  bool has_details = step->details.length > 0;
  buffer_add_format(&line, "%s%s %s%s%s", is_comment ? "-- " : "", VERBS[step->verb].plan, step->object.data,
                    has_details ? ": " : "", has_details ? step->details.data : "");
  for (char *c = line.data; !line.overflow && *c != '\0'; c++)
    if (*c == '\n' || *c == '\r')
      *c = ' ';
  if (line.overflow)
    text->overflow = true;
  else
    buffer_add_format(text, "%s\n", line.data);
  buffer_release(&line);
}

bool steps_print(const struct steps *steps, bool sql, struct error *error) {
  struct buffer text;
  buffer_init(&text, 256UL * 1024 * 1024);
  for (size_t i = 0; i < steps->count; i++) {
    const struct step *step = steps->items[i];
    add_line(&text, step, sql);
    if (sql && step->request_count > 1)
      buffer_add_string(&text, "begin;\n");
    for (size_t j = 0; sql && j < step->request_count; j++)
      request_add_sql(&text, &step->requests[j]);
    if (sql && step->request_count > 1)
      buffer_add_string(&text, "commit;\n");
  }
  bool ok = buffer_ok(&text, "the plan", error);
  if (ok && text.length > 0)
    fputs(text.data, stdout);
  buffer_release(&text);
  return ok;
}

/* What a failure leaves is for the next run. */
static bool fail_run(const struct steps *steps, const char *file, struct error *error) {
  fail_step(steps->items[steps->done], file, error);
  char detail[sizeof error->detail];
  text_print(detail, sizeof detail, "%s%s%zu of %zu change%s made; run it again for the rest", error->detail,
             error->detail[0] != '\0' ? "; " : "", steps->done, steps->count, steps->count == 1 ? " was" : "s were");
  return error_detail(error, "%s", detail);
}

bool steps_run(struct steps *steps, struct source *source, const char *file, struct error *error) {
  for (; steps->done < steps->count; steps->done++) {
    const struct step *step = steps->items[steps->done];
    if (!source_renew_at_times(source, steps->done, error) ||
        !request_run(source, step->request_count, step->requests, error))
      return fail_run(steps, file, error);
    printf("%s: %s%s%s\n", step->object.data, VERBS[step->verb].done, step->advice.length > 0 ? "; " : "",
           step->advice.length > 0 ? step->advice.data : "");
    fflush(stdout);
  }
  return true;
}
