/* rowrelay apply: makes what is set up as a file says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/array.h"
#include "cli/call.h"
#include "cli/command.h"
#include "cmd/uncopied.h"
#include "common/text.h"
#include "common/yaml_reader.h"
#include "queries.h"
#include "setup/setup.h"

/* Prints the plan. That there is one is a difference, as verify would find it. */
static bool print_plan(const struct options *given, const struct setup *setup, struct error *error) {
  size_t count = setup->steps.count;
  if (!steps_print(&setup->steps, option_given(given, "sql"), error))
    return false;
  return count == 0 || error_set(error, FAILURE_DIFFERENT, "the source differs from %s: %zu change%s to make",
                                 setup->file, count, text_plural((int64_t)count));
}

/* Whether this step has routed a table to where it did not go; then which, and to which target. */
static bool has_routed(const struct step *step, const char **table, const char **target) {
  const struct request *request = &step->requests[0];
  if (!step->is_new_place)
    return false;
  *table = request->values[0];
  *target = request->values[1];
  return true;
}

/* Says of the tables that have been routed to this target that their rows are not copied; `first` is the first such
 * step. */
static bool tell_uncopied(const struct steps *steps, size_t first, struct source *source, const char *target,
                          struct error *error) {
  struct buffer tables;
  struct uncopied uncopied = {.found = NULL};
  const char **names = calloc(steps->done, sizeof *names);
  size_t count = 0;
  buffer_init(&tables, LIST_LIMIT);
  if (names == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  for (size_t i = first; i < steps->done; i++) {
    const char *of;
    count += has_routed(steps->items[i], &names[count], &of) && strcmp(of, target) == 0;
  }
  array_add_texts(&tables, count, names);
  bool ok = buffer_ok(&tables, "the list of tables", error) &&
            uncopied_find_routed(&uncopied, source, tables.data, target, error);
  if (ok)
    uncopied_tell(&uncopied, (struct patterns){0, NULL}, target);
  uncopied_release(&uncopied);
  free(names);
  buffer_release(&tables);
  return ok;
}

/* Once for each target. Also after a failure: the next run does not route them again. */
static bool tell_all_uncopied(const struct steps *steps, struct source *source, struct error *error) {
  const char *table;
  const char *target;
  const char *earlier;
  for (size_t i = 0; i < steps->done; i++) {
    bool is_first = has_routed(steps->items[i], &table, &target);
    for (size_t j = 0; is_first && j < i; j++)
      is_first = !has_routed(steps->items[j], &table, &earlier) || strcmp(earlier, target) != 0;
    if (is_first && !tell_uncopied(steps, i, source, target, error))
      return false;
  }
  return true;
}

static bool take_steps(struct setup *setup, struct error *error) {
  struct error ignored;
  bool ok = steps_run(&setup->steps, setup->source, setup->file, error);
  return tell_all_uncopied(&setup->steps, setup->source, ok ? error : &ignored) && ok;
}

static bool run(const struct options *given, struct error *error) {
  const char *path = given->arguments[0];
  int64_t lock_wait;
  struct source *source = NULL;
  struct setup setup = {.file = yaml_file_name(path),
                        .lock_wait = option_text(given, "lock-wait"),
                        .prune = option_given(given, "prune")};
  bool dry_run = option_given(given, "dry-run") || option_given(given, "sql");
  bool ok = option_integer(given, "lock-wait", (struct bounds){0, 86400}, &lock_wait, error) &&
            yaml_read_file(&setup.wanted, path, error) && setup_file_check(setup.file, setup.wanted, error) &&
            call_open(&source, given, error);
  setup.source = source;
  ok = ok && setup_plan(&setup, error) && (dry_run ? print_plan(given, &setup, error) : take_steps(&setup, error));
  if (ok && setup.steps.count == 0)
    fprintf(stderr, "nothing to change: the source is as %s says\n", setup.file);
  setup_release(&setup);
  tree_free(setup.wanted);
  source_close(source);
  return ok;
}

static const struct option OPTIONS[] = {
    {.name = "dry-run", .help = "print what would be changed, and change nothing"},
    {.name = "sql", .help = "the same, with the SQL that would be run"},
    {.name = "prune", .help = "remove targets, captures, routes and documents that the file does not name"},
    {.name = "lock-wait", .value = "SECONDS", .initial = "60", .help = "try for this long to get the lock on a table"},
    OPTION_END,
};

const struct command COMMAND_apply = {
    .name = "apply",
    .summary = "make targets, captures, routes, documents and retention as a file says",
    .arguments = "FILE",
    .least = 1,
    .most = 1,
    .options = OPTIONS,
    .notes =
        "FILE is YAML or JSON, as \"rowrelay export\" prints it; - is standard input:\n"
        "  keep: 90 days\n"
        "  targets:\n"
        "    dw:\n"
        "      url: postgresql://dw1/warehouse?sslmode=verify-full\n"
        "      options: {batch_rows: 5000}\n"
        "  captures:\n"
        "    shop.orders:\n"
        "      before: true\n"
        "      routes:\n"
        "        dw: {into: staging.orders, create: true}\n"
        "Names are those of the options of capture, route and document add, with _ for -. What the file does not say\n"
        "stays as it is; null takes an option back to its default. The file is checked as a whole before anything is\n"
        "changed. Then each object is changed in a transaction of its own; if one fails, those before it are done, "
        "and\n"
        "the next run does the rest. A document that changes is replaced, and its rows are not built again by that.\n"
        "--prune looks at the sections that the file has: an empty one removes all of its kind. Tables that a "
        "document\n"
        "is built from stay captured. The rows that newly routed tables have already are not copied; which these are\n"
        "and the command for it are printed.\n"
        "Exit status of --dry-run: 3 if there is something to change, 0 if not.\n",
    .examples = "rowrelay apply shop.yaml --dry-run\n"
                "rowrelay apply shop.yaml --prune\n",
    .run = run,
};
