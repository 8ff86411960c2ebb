/* rowrelay export: prints what is set up, as a file that "rowrelay apply" reads. */
#include <stdio.h>

#include "cli/call.h"
#include "cli/command.h"
#include "common/yaml_writer.h"
#include "setup/setup.h"

#define EXPORT_LIMIT ((size_t)256 * 1024 * 1024) /* bytes */

static bool print(const struct options *given, const struct tree *present, struct error *error) {
  struct buffer text;
  buffer_init(&text, EXPORT_LIMIT);
  if (option_given(given, "json")) {
    tree_add_json(&text, present);
    buffer_add_string(&text, "\n");
  } else {
    buffer_add_string(
        &text, "# made by: rowrelay export. \"rowrelay apply\" makes a source so.\n"
               "# ${NAME} is filled in by the environment of \"rowrelay run\". All else is here as it was written.\n");
    yaml_add_map(&text, present);
  }
  bool ok = buffer_ok(&text, "what is set up", error);
  if (ok)
    fputs(text.data, stdout);
  buffer_release(&text);
  return ok;
}

static bool run(const struct options *given, struct error *error) {
  struct source *source = NULL;
  struct tree *present = NULL;
  bool ok = call_open(&source, given, error) && setup_read_present(&present, source, false, error) &&
            print(given, present, error);
  tree_free(present);
  source_close(source);
  return ok;
}

static const struct option OPTIONS[] = {
    {.name = "json", .help = "print JSON, in one line, rather than YAML"},
    OPTION_END,
};

const struct command COMMAND_export = {
    .name = "export",
    .summary = "print targets, captures, routes, documents and retention as a file for apply",
    .arguments = "",
    .options = OPTIONS,
    .notes =
        "What has its default value is left out. Secrets are not stored, so there are none in it: ${NAME} in a URL or\n"
        "option stays as it is, and \"rowrelay run\" replaces it from its environment. But whatever else a URL or "
        "header\n"
        "contains is printed.\n",
    .examples = "rowrelay export\n",
    .run = run,
};
