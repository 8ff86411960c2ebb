/* rowrelay target: adds, changes and shows targets. */
#include <stdio.h>
#include <string.h>

#include "cli/array.h"
#include "cli/call.h"
#include "cli/command.h"
#include "common/buffer.h"
#include "queries.h"
#include "source/settings.h"
#include "targets/catalogue.h"
#include "targets/target.h"

/* Reads every --option into a JSON object. */
static bool read_settings(const struct options *given, struct buffer *object, struct error *error) {
  buffer_add_string(object, "{");
  for (size_t i = 0; i < option_count(given, "option"); i++)
    if (!array_add_setting(object, option_at(given, "option", i), error))
      return false;
  buffer_add_string(object, "}");
  return buffer_ok(object, "the options", error);
}

/* Calls `query` with a name, a URL and the --option's. */
static bool store(const struct options *given, const struct query *query, const char *url, struct error *error) {
  struct buffer settings;
  buffer_init(&settings, LIST_LIMIT);
  bool ok = read_settings(given, &settings, error) &&
            call_execute(given, query, VALUES(given->arguments[0], url, settings.data), error);
  buffer_release(&settings);
  return ok;
}

static bool tell(bool ok, const struct options *given, const char *what) {
  if (ok)
    printf("target %s: %s\n", given->arguments[0], what);
  return ok;
}

static bool add(const struct options *given, struct error *error) {
  const char *url = given->arguments[1];
  return tell(target_check_built(url, error) && store(given, &QUERY_cmd_target_add, url, error), given, "added");
}

static bool set(const struct options *given, struct error *error) {
  if (!option_given(given, "url") && !option_given(given, "option")) {
    error_set(error, FAILURE_USAGE, "nothing to set");
    return error_hint(error, "add --url URL or --option NAME=VALUE");
  }
  const char *url = option_text(given, "url");
  return tell(target_check_built(url, error) && store(given, &QUERY_cmd_target_set, url, error), given, "set");
}

static bool pause_target(const struct options *given, struct error *error) {
  return tell(call_execute(given, &QUERY_cmd_target_pause, VALUES(given->arguments[0]), error), given, "paused");
}

static bool resume(const struct options *given, struct error *error) {
  return tell(call_execute(given, &QUERY_cmd_target_resume, VALUES(given->arguments[0]), error), given, "running");
}

static bool drop(const struct options *given, struct error *error) {
  return tell(call_execute(given, &QUERY_cmd_target_drop, VALUES(given->arguments[0]), error), given, "dropped");
}

static bool list(const struct options *given, struct error *error) {
  return call_print(given, &QUERY_cmd_target_list, &QUERY_cmd_target_list_json, NO_VALUES, error);
}

static bool show(const struct options *given, struct error *error) {
  /* The first call reports a name that does not exist. */
  struct values name = VALUES(given->arguments[0]);
  return call_execute(given, &QUERY_target_id, name, error) &&
         call_print(given, &QUERY_cmd_target_show, &QUERY_cmd_target_show_json, name, error);
}

static bool test(const struct options *given, struct error *error) {
  struct source *source = NULL;
  struct target *target = NULL;
  const struct target_kind *kind;
  struct settings *settings = NULL;
  struct buffer answer;
  buffer_init(&answer, LIST_LIMIT);
  bool ok = call_open(&source, given, error) && settings_load(&settings, source, given->arguments[0], error) &&
            target_find_kind(settings->url, &kind, error) && target_open(&target, kind, settings, source, error) &&
            target_test(target, &answer, error) && buffer_ok(&answer, "the answer", error);
  if (ok)
    printf("target %s: %s\n", given->arguments[0], answer.data);
  target_close(target);
  settings_free(settings);
  source_close(source);
  buffer_release(&answer);
  return ok;
}

static void tell_urls_and_options(struct buffer *text) {
  buffer_add_string(text, "URL is one of\n");
  catalogue_add_urls(text, TARGET_KINDS);
  buffer_add_string(
      text, "http: can be used instead of https:.\n"
            "Across a network let libpq verify the server: postgresql://HOST/DATABASE?sslmode=verify-full.\n"
            "Keep passwords in ~/.pgpass or a service file. ${NAME} in a URL is replaced from the environment of\n"
            "\"rowrelay run\".\n\n");
  catalogue_add_options(text, TARGET_KINDS);
}

static void offer_urls(struct buffer *words, const struct typed *typed) {
  (void)typed;
  catalogue_add_url_words(words, TARGET_KINDS);
}

/* Behind a URL, only those of its kind. */
static void offer_options(struct buffer *words, const struct typed *typed) {
  const struct target_kind *kind = NULL;
  struct error ignored;
  if (typed->count > 1 && !target_find_kind(typed->arguments[1], &kind, &ignored))
    kind = NULL;
  catalogue_add_option_words(words, TARGET_KINDS, kind);
}

static const struct option ADD_OPTIONS[] = {
    {.name = "option",
     .letter = 'o',
     .value = "NAME=VALUE",
     .repeatable = true,
     .help = "set an option",
     .offer = offer_options},
    OPTION_END,
};

static const struct option SET_OPTIONS[] = {
    {.name = "url", .value = "URL", .help = "the new URL", .offer = offer_urls},
    {.name = "option",
     .letter = 'o',
     .value = "NAME=VALUE",
     .repeatable = true,
     .help = "set an option; NAME= resets it to its default",
     .offer = offer_options},
    OPTION_END,
};

static const struct option PRINT_OPTIONS[] = {
    {.name = "json", .help = "print JSON for programs"},
    OPTION_END,
};

static const struct option NO_OPTIONS[] = {OPTION_END};

const struct command COMMAND_target_add = {
    .name = "target add",
    .summary = "add a target, a place where changes can go",
    .arguments = "NAME URL",
    .least = 2,
    .most = 2,
    .options = ADD_OPTIONS,
    .more_notes = tell_urls_and_options,
    .offer = offer_urls,
    .examples = "rowrelay target add dw 'postgresql://dw1/warehouse?sslmode=verify-full'\n"
                "rowrelay target add hook https://example.org/changes --option secret='${HOOK_SECRET}'\n",
    .run = add,
};

const struct command COMMAND_target_list = {
    .name = "target list",
    .summary = "list the targets",
    .arguments = "",
    .options = PRINT_OPTIONS,
    .examples = "rowrelay target list\n",
    .run = list,
};

const struct command COMMAND_target_show = {
    .name = "target show",
    .summary = "show a target with its options and tables",
    .arguments = "NAME",
    .least = 1,
    .most = 1,
    .options = PRINT_OPTIONS,
    .examples = "rowrelay target show dw\n",
    .run = show,
};

const struct command COMMAND_target_set = {
    .name = "target set",
    .summary = "change a target's URL or options",
    .arguments = "NAME",
    .least = 1,
    .most = 1,
    .options = SET_OPTIONS,
    .notes = "Running processes apply it with their next batch. Before the URL changes, it waits until no batch is on "
             "its way\n"
             "to the old one. \"rowrelay target add --help\" lists URLs and options.\n",
    .examples = "rowrelay target set hook --option concurrency=32 --option timeout=\n"
                "rowrelay target set dw --url 'postgresql://dw2/warehouse?sslmode=verify-full'\n",
    .run = set,
};

const struct command COMMAND_target_pause = {
    .name = "target pause",
    .summary = "pause delivery to a target; its changes wait",
    .arguments = "NAME",
    .least = 1,
    .most = 1,
    .options = NO_OPTIONS,
    .notes = "It waits until no batch is on its way there.\n",
    .examples = "rowrelay target pause dw\n",
    .run = pause_target,
};

const struct command COMMAND_target_resume = {
    .name = "target resume",
    .summary = "resume delivery after a pause or a halt",
    .arguments = "NAME",
    .least = 1,
    .most = 1,
    .options = NO_OPTIONS,
    .examples = "rowrelay target resume dw\n",
    .run = resume,
};

const struct command COMMAND_target_test = {
    .name = "target test",
    .summary = "send a target one harmless request, and show the answer",
    .arguments = "NAME",
    .least = 1,
    .most = 1,
    .options = NO_OPTIONS,
    .notes = "The request is sent from this machine, with this environment; running processes may have another.\n",
    .examples = "rowrelay target test dw\n",
    .run = test,
};

const struct command COMMAND_target_drop = {
    .name = "target drop",
    .summary = "remove a target and discard what is queued for it",
    .arguments = "NAME",
    .least = 1,
    .most = 1,
    .options = NO_OPTIONS,
    .notes = "It waits until no batch is on its way there.\n",
    .examples = "rowrelay target drop dw\n",
    .run = drop,
};
