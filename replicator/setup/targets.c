#include "setup/targets.h"

#include <string.h>

#include "cli/array.h"
#include "queries.h"
#include "targets/target.h"
#include "targets/target_option.h"

#define MOST_OPTIONS 64

/* Every option of any kind of target, each once; gives how many. */
static size_t all_options(const struct target_option *options[MOST_OPTIONS]) {
  size_t count = 0;
  for (const struct target_option *option = TARGET_COMMON_OPTIONS; option->name != NULL && count < MOST_OPTIONS;
       option++)
    options[count++] = option;
  for (size_t i = 0; TARGET_KINDS[i] != NULL; i++)
    for (const struct target_option *const *table = TARGET_KINDS[i]->options; table != NULL && *table != NULL; table++)
      for (const struct target_option *option = *table; option->name != NULL && count < MOST_OPTIONS; option++) {
        size_t known = 0;
        while (known < count && strcmp(options[known]->name, option->name) != 0)
          known++;
        if (known == count)
          options[count++] = option;
      }
  return count;
}

static const struct target_option *find_option(const char *name) {
  const struct target_option *options[MOST_OPTIONS];
  size_t count = all_options(options);
  for (size_t i = 0; i < count; i++)
    if (strcmp(options[i]->name, name) == 0)
      return options[i];
  return NULL;
}

bool targets_check_options(const struct setup *setup, const struct tree *options, struct error *error) {
  for (size_t i = 0; options != NULL && i < options->count; i++) {
    const struct tree *name = options->names[i];
    if (find_option(name->text) != NULL)
      continue;
    const struct target_option *known[MOST_OPTIONS];
    const char *words[MOST_OPTIONS];
    size_t count = all_options(known);
    for (size_t j = 0; j < count; j++)
      words[j] = known[j]->name;
    setup_fail(setup->file, name, error, "option \"%s\" does not exist", name->text);
    return setup_suggest(error, name->text, count, words);
  }
  return true;
}

/* An empty text resets an option, as on the command line. */
static const char *option_text_of(const struct tree *value) {
  return value == NULL || value->kind == TREE_NULL || *value->text == '\0' ? NULL : value->text;
}

static void add_option(struct buffer *json, const char *name, const char *text) {
  buffer_add_string(json, json->length > 0 ? ", " : "{");
  buffer_add_json_string(json, name);
  buffer_add_string(json, ": ");
  buffer_add_json_string(json, text);
}

void targets_add_options(struct buffer *json, const struct tree *wanted, const struct tree *present) {
  for (size_t i = 0; wanted != NULL && i < wanted->count; i++)
    if (option_text_of(wanted->items[i]) != NULL)
      add_option(json, wanted->names[i]->text, wanted->items[i]->text);
  for (size_t i = 0; present != NULL && i < present->count; i++)
    if (tree_find(wanted, present->names[i]->text) == NULL)
      add_option(json, present->names[i]->text, option_text_of(present->items[i]));
  buffer_add_string(json, json->length > 0 ? "}" : "{}");
}

/* Appends the options that differ, and tells of them; one whose value is secret only by its name. */
static void add_changed_options(struct buffer *json, struct step *step, const struct targets_item *item) {
  const struct tree *wanted = tree_find(item->wanted, "options");
  const struct tree *present = tree_find(item->present, "options");
  for (size_t i = 0; wanted != NULL && i < wanted->count; i++) {
    const char *name = wanted->names[i]->text;
    const struct tree *now = tree_find(present, name);
    const char *text = option_text_of(wanted->items[i]);
    const char *now_text = option_text_of(now);
    if (text == NULL ? now_text == NULL : now_text != NULL && strcmp(text, now_text) == 0)
      continue;
    const struct target_option *option = find_option(name);
    if (option != NULL && option->secret)
      buffer_add_format(&step->details, "%s%s", step->details.length > 0 ? ", " : "", name);
    else
      step_tell(step, name, wanted->items[i], now);
    add_option(json, name, text);
  }
  if (json->length > 0)
    buffer_add_string(json, "}");
}

static bool differs(const struct targets_item *item, const char *name) {
  for (const struct setup_key *key = SETUP_TARGET_KEYS; key->name != NULL; key++)
    if (strcmp(key->name, name) == 0)
      return setup_differs(key, tree_find(item->wanted, name), tree_find(item->present, name));
  return false;
}

static bool options_differ(const struct targets_item *item) {
  struct buffer json;
  struct step step = {.verb = STEP_CHANGE};
  buffer_init(&json, LIST_LIMIT);
  buffer_init(&step.details, STEP_WORDS_LIMIT);
  add_changed_options(&json, &step, item);
  bool differ = json.length > 0;
  buffer_release(&json);
  buffer_release(&step.details);
  return differ;
}

bool targets_plan_change(struct setup *setup, const struct targets_item *item, struct error *error) {
  bool is_moved = differs(item, "url");
  if (!is_moved && !options_differ(item))
    return true;
  struct step *step = steps_add(&setup->steps, STEP_CHANGE, item->name, error);
  if (step == NULL)
    return false;
  const char *url = is_moved ? tree_text(item->wanted, "url") : NULL;
  struct buffer options;
  buffer_init(&options, LIST_LIMIT);
  buffer_add_format(&step->object, "%s %s", item->what, item->name->text);
  if (is_moved)
    step_tell(step, "url", tree_find(item->wanted, "url"), tree_find(item->present, "url"));
  add_changed_options(&options, step, item);
  struct values values = VALUES(item->name->text, url, options.data);
  bool ok = buffer_ok(&options, "the options", error) &&
            step_check_by(step, &QUERY_setup_check_target_change, values, error) &&
            step_call(step, &QUERY_cmd_target_set, values, error);
  buffer_release(&options);
  return ok;
}

bool targets_plan_pause(struct setup *setup, const struct targets_item *item, struct error *error) {
  const struct tree *paused = tree_find(item->wanted, "paused");
  const char *now = tree_text(item->present, "paused");
  if (paused == NULL || strcmp(paused->text, now != NULL ? now : "false") == 0)
    return true;
  bool pauses = strcmp(paused->text, "true") == 0;
  struct step *step = steps_add(&setup->steps, pauses ? STEP_PAUSE : STEP_RESUME, item->name, error);
  if (step != NULL)
    buffer_add_format(&step->object, "%s %s", item->what, item->name->text);
  return step_call(step, pauses ? &QUERY_cmd_target_pause : &QUERY_cmd_target_resume, VALUES(item->name->text), error);
}

static bool plan_new(struct setup *setup, const struct targets_item *item, struct error *error) {
  const char *name = item->name->text;
  const char *url = tree_text(item->wanted, "url");
  if (url == NULL) {
    setup_fail(setup->file, item->name, error, "target \"%s\" has no url", name);
    return error_hint(error, "a target that is not there yet needs one");
  }
  if (setup_is_named(setup_section(setup->present, "documents"), name))
    return setup_fail(setup->file, item->name, error, "\"%s\" is a document; choose another name for the target", name);
  struct step *step = steps_add(&setup->steps, STEP_ADD, item->name, error);
  if (step == NULL)
    return false;
  struct buffer options;
  buffer_init(&options, LIST_LIMIT);
  buffer_add_format(&step->object, "target %s", name);
  step_tell(step, "url", tree_find(item->wanted, "url"), NULL);
  add_changed_options(&options, step, item);
  buffer_clear(&options);
  targets_add_options(&options, tree_find(item->wanted, "options"), NULL);
  struct values values = VALUES(name, url, options.data);
  bool ok = buffer_ok(&options, "the options", error) &&
            step_check_by(step, &QUERY_setup_check_target, values, error) &&
            step_call(step, &QUERY_cmd_target_add, values, error);
  buffer_release(&options);
  return ok;
}

static bool check_built(const struct setup *setup, const struct targets_item *item, struct error *error) {
  struct error why;
  if (target_check_built(tree_text(item->wanted, "url"), &why))
    return true;
  setup_fail(setup->file, tree_find(item->wanted, "url"), error, "%s", why.message);
  return error_hint(error, "%s", why.hint);
}

bool targets_plan(struct setup *setup, struct error *error) {
  const struct tree *targets = setup_section(setup->wanted, "targets");
  const struct tree *present = setup_section(setup->present, "targets");
  for (size_t i = 0; targets != NULL && i < targets->count; i++) {
    struct targets_item item = {.name = targets->names[i],
                                .wanted = targets->items[i],
                                .present = tree_find(present, targets->names[i]->text),
                                .what = "target"};
    if (!check_built(setup, &item, error) || !targets_check_options(setup, tree_find(item.wanted, "options"), error))
      return false;
    bool ok = item.present == NULL ? plan_new(setup, &item, error) : targets_plan_change(setup, &item, error);
    if (!ok || !targets_plan_pause(setup, &item, error))
      return false;
  }
  return true;
}

bool targets_plan_removal(struct setup *setup, struct error *error) {
  const struct tree *targets = setup_section(setup->wanted, "targets");
  const struct tree *present = setup_section(setup->present, "targets");
  for (size_t i = 0; targets != NULL && i < present->count; i++) {
    const char *name = present->names[i]->text;
    if (setup_is_named(targets, name))
      continue;
    struct step *step = steps_add(&setup->steps, STEP_REMOVE, NULL, error);
    if (step != NULL) {
      buffer_add_format(&step->object, "target %s", name);
      buffer_add_string(&step->details, "its routes and documents too; what is queued for it is discarded");
    }
    if (!step_call(step, &QUERY_cmd_target_drop, VALUES(name), error))
      return false;
  }
  return true;
}
