#include "setup/setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/call.h"
#include "common/spelling.h"
#include "common/yaml_reader.h"
#include "queries.h"
#include "setup/captures.h"
#include "setup/documents.h"
#include "setup/targets.h"

#define INVALID_NAME "42602"

bool setup_read_present(struct tree **present, struct source *source, bool everything, struct error *error) {
  PGresult *reply = NULL;
  if (!call_run(source, &QUERY_setup_present, VALUES(everything ? "true" : "false"), &reply, error))
    return false;
  bool ok = yaml_read_json(present, PQgetvalue(reply, 0, 0), error);
  PQclear(reply);
  return ok;
}

const struct tree *setup_section(const struct tree *tree, const char *section) {
  const struct tree *found = tree_find(tree, section);
  return found != NULL && found->kind == TREE_MAP ? found : NULL;
}

bool setup_is_named(const struct tree *section, const char *name) {
  return tree_find(section, name) != NULL;
}

bool setup_rename(struct tree *tree, const char *text, struct error *error) {
  char *copy = strdup(text);
  if (copy == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  free(tree->text);
  tree->text = copy;
  return true;
}

/* Adds the nearest table's name to an error about one that is not there. */
static bool suggest_table(struct setup *setup, const char *typed, struct error *error) {
  PGresult *tables = NULL;
  struct error ignored;
  if (!call_run(setup->source, &QUERY_setup_tables, NO_VALUES, &tables, &ignored))
    return false;
  size_t count = (size_t)PQntuples(tables);
  const char **names = calloc(count + 1, sizeof *names);
  for (size_t i = 0; names != NULL && i < count; i++)
    names[i] = PQgetvalue(tables, (int)i, 0);
  const char *nearest = names != NULL ? spelling_nearest(typed, count, names) : NULL;
  if (nearest != NULL)
    error_hint(error, "did you mean \"%s\"?", nearest);
  else
    error_hint(error, "name each table as SCHEMA.TABLE; a pattern is no name");
  free(names);
  PQclear(tables);
  return false;
}

bool setup_find_table(struct setup *setup, const struct tree *name, struct buffer *full_name, struct error *error) {
  PGresult *reply = NULL;
  if (!call_run(setup->source, &QUERY_setup_table, VALUES(name->text), &reply, error)) {
    struct error cause = *error;
    setup_fail(setup->file, name, error, "%s", cause.message);
    error->kind = cause.kind;
    snprintf(error->sqlstate, sizeof error->sqlstate, "%s", cause.sqlstate);
    return strcmp(cause.sqlstate, INVALID_NAME) == 0
               ? error_hint(error, "quote a name with capitals or blanks twice, for SQL and for YAML: "
                                   "'\"Sales\".\"Old orders\"'")
               : error_hint(error, "%s", cause.hint);
  }
  bool is_there = PQntuples(reply) > 0 && !PQgetisnull(reply, 0, 0);
  if (is_there)
    buffer_add_string(full_name, PQgetvalue(reply, 0, 0));
  PQclear(reply);
  if (is_there)
    return buffer_ok(full_name, "a table's name", error);
  setup_fail(setup->file, name, error, "table \"%s\" does not exist", name->text);
  return suggest_table(setup, name->text, error);
}

static bool fail_target(const struct setup *setup, const struct tree *target, struct error *error) {
  const char *name = target->text;
  const struct tree *wanted = setup_section(setup->wanted, "targets");
  const struct tree *present = setup_section(setup->present, "targets");
  const struct tree *sections[] = {wanted, present};
  const char *names[256];
  size_t count = 0;
  for (size_t i = 0; i < 2; i++)
    for (size_t j = 0; sections[i] != NULL && j < sections[i]->count && count < sizeof names / sizeof names[0]; j++)
      if (i == 0 || tree_find(wanted, sections[i]->names[j]->text) == NULL)
        names[count++] = sections[i]->names[j]->text;
  if (setup_is_named(setup_section(setup->present, "documents"), name) ||
      setup_is_named(setup_section(setup->wanted, "documents"), name))
    setup_fail(setup->file, target, error, "\"%s\" is a document, not a target", name);
  else
    setup_fail(setup->file, target, error, "target \"%s\" does not exist", name);
  return setup_suggest(error, name, count, names);
}

bool setup_find_target(const struct setup *setup, const struct tree *target, const char **url, struct buffer *options,
                       struct error *error) {
  const char *name = target->text;
  const struct tree *targets = setup_section(setup->wanted, "targets");
  const struct tree *wanted = tree_find(targets, name);
  const struct tree *present = tree_find(setup_section(setup->present, "targets"), name);
  if (wanted == NULL && present == NULL)
    return fail_target(setup, target, error);
  if (setup->prune && targets != NULL && wanted == NULL) {
    setup_fail(setup->file, target, error, "target \"%s\" would be removed", name);
    return error_hint(error, "name it in targets, or apply the file without --prune");
  }
  *url = tree_text(wanted, "url");
  if (*url == NULL)
    *url = tree_text(present, "url");
  targets_add_options(options, tree_find(wanted, "options"), tree_find(present, "options"));
  return buffer_ok(options, "the options", error);
}

bool setup_read_keep(struct setup *setup, struct tree *keep, struct error *error) {
  PGresult *reply = NULL;
  if (!call_run(setup->source, &QUERY_setup_keep, VALUES(keep->text), &reply, error)) {
    struct error cause = *error;
    setup_fail(setup->file, keep, error, "%s", cause.message);
    return error_hint(error, "%s", cause.hint[0] != '\0' ? cause.hint : "give an interval such as 90 days, or forever");
  }
  bool ok = setup_rename(keep, PQgetvalue(reply, 0, 0), error);
  PQclear(reply);
  return ok;
}

static bool plan_keep(struct setup *setup, struct error *error) {
  static const struct setup_key key = {.name = "keep", .kind = SETUP_TEXT, .initial = "forever"};
  struct tree *wanted = tree_find(setup->wanted, key.name);
  const struct tree *present = tree_find(setup->present, key.name);
  if (wanted == NULL)
    return true;
  if (wanted->kind == TREE_TEXT && strcmp(wanted->text, "default") == 0)
    return setup_fail(setup->file, wanted, error, "keep must be an interval such as 90 days, or forever");
  if (wanted->kind == TREE_TEXT && !setup_read_keep(setup, wanted, error))
    return false;
  if (!setup_differs(&key, wanted, present))
    return true;
  struct step *step = steps_add(&setup->steps, STEP_CHANGE, wanted, error);
  if (step != NULL)
    buffer_add_string(&step->object, "keep");
  step_tell(step, "all tables", wanted, present);
  return step_call(step, &QUERY_cmd_keep, VALUES(wanted->kind == TREE_NULL ? key.initial : wanted->text, NULL), error);
}

static bool plan_seal(struct setup *setup, struct error *error) {
  const struct tree *wanted = tree_find(setup->wanted, "seal");
  const struct tree *present = tree_find(setup->present, "seal");
  if (wanted == NULL || strcmp(wanted->text, present->text) == 0)
    return true;
  struct step *step = steps_add(&setup->steps, STEP_CHANGE, wanted, error);
  if (step != NULL)
    buffer_add_string(&step->object, "seal");
  step_tell(step, "closed days", wanted, present);
  return step_call(step, &QUERY_cmd_seal_days, VALUES(wanted->text), error);
}

/* What is used by something comes after what uses it, but nothing is removed before all else is done: what changes
 * meanwhile goes to the old and to the new place rather than to none. */
static bool plan_removal(struct setup *setup, struct error *error) {
  struct tree *used = tree_new(TREE_MAP, NULL);
  bool ok = used != NULL || error_set(error, FAILURE_RETRY, "out of memory");
  ok = ok && documents_find_tables(setup, used, error) && documents_plan_removal(setup, error) &&
       captures_plan_removal(setup, used, error) && targets_plan_removal(setup, error);
  tree_free(used);
  return ok;
}

bool setup_plan(struct setup *setup, struct error *error) {
  return setup_file_check(setup->file, setup->wanted, error) &&
         setup_read_present(&setup->present, setup->source, true, error) && targets_plan(setup, error) &&
         captures_plan(setup, error) && documents_plan(setup, error) && plan_keep(setup, error) &&
         plan_seal(setup, error) && (!setup->prune || plan_removal(setup, error)) &&
         steps_check(&setup->steps, setup->source, setup->file, error);
}

void setup_release(struct setup *setup) {
  steps_release(&setup->steps);
  tree_free(setup->present);
  setup->present = NULL;
}
