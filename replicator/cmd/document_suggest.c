/* rowrelay document suggest: proposes the command that adds a document, from its query. */
#include <stdio.h>
#include <string.h>

#include "cli/call.h"
#include "cli/command.h"
#include "common/buffer.h"
#include "common/file_text.h"
#include "common/shell.h"
#include "common/text.h"
#include "queries.h"

/* Longest query. Bytes. */
#define QUERY_LIMIT ((size_t)1024 * 1024)
#define LONGEST_NAME 64

static bool is_kind(const PGresult *reply, int row, const char *kind) {
  return strcmp(PQgetvalue(reply, row, SUGGESTION_KIND), kind) == 0;
}

/* NULL: there is none. */
static const char *find(const PGresult *reply, const char *kind) {
  for (int row = 0; row < PQntuples(reply); row++)
    if (is_kind(reply, row, kind))
      return PQgetvalue(reply, row, SUGGESTION_TEXT);
  return NULL;
}

/* The file's name without folders and what follows its first dot. */
static void name_after(const char *path, char name[LONGEST_NAME]) {
  const char *slash = strrchr(path, '/');
  const char *base = slash != NULL ? slash + 1 : path;
  text_print(name, LONGEST_NAME, "%.*s", (int)strcspn(base, "."), base);
  if (name[0] == '\0' || strcmp(name, "-") == 0)
    text_print(name, LONGEST_NAME, "NAME");
}

/* Appends a word as a shell reads it; a source may be longer than struct shell_word takes. */
static void add_quoted(struct buffer *command, const char *text) {
  buffer_add_string(command, "'");
  for (; *text != '\0'; text++)
    if (*text == '\'')
      buffer_add_string(command, "'\\''");
    else
      buffer_add(command, text, 1);
  buffer_add_string(command, "'");
}

static void add_option(struct buffer *command, const char *option, const char *value) {
  struct shell_word word;
  buffer_add_format(command, " %s %s", option, shell_quote(&word, value));
}

static void tell_problems(const PGresult *reply, bool has_target) {
  for (int row = 0; row < PQntuples(reply); row++)
    if (is_kind(reply, row, "problem"))
      fprintf(stderr, "notice: %s\n", PQgetvalue(reply, row, SUGGESTION_TEXT));
  if (!has_target)
    fprintf(stderr, "notice: put the name of a target in the place of TARGET\nhint: rowrelay target list\n");
}

static bool print_command(const struct options *given, const PGresult *reply, struct error *error) {
  struct shell_word word;
  struct buffer command;
  buffer_init(&command, QUERY_LIMIT);
  const char *target = option_given(given, "target") ? option_text(given, "target") : find(reply, "target");
  const char *key = option_given(given, "key") ? option_text(given, "key") : find(reply, "key");
  buffer_add_format(&command, "rowrelay document add %s",
                    shell_quote(&word, option_given(given, "name") ? option_text(given, "name") : find(reply, "name")));
  add_option(&command, "--target", target != NULL ? target : "TARGET");
  add_option(&command, "--key", key);
  add_option(&command, "--query", given->arguments[0]);
  buffer_add_string(&command, " --create");
  for (int row = 0; row < PQntuples(reply); row++) {
    if (!is_kind(reply, row, "source"))
      continue;
    buffer_add_string(&command, " \\\n  --from ");
    add_quoted(&command, PQgetvalue(reply, row, SUGGESTION_TEXT));
  }
  bool ok = buffer_ok(&command, "the command", error);
  if (ok) {
    tell_problems(reply, target != NULL);
    puts(command.data);
  }
  buffer_release(&command);
  return ok;
}

static bool run(const struct options *given, struct error *error) {
  struct source *source = NULL;
  PGresult *reply = NULL;
  struct buffer query;
  char name[LONGEST_NAME];
  name_after(given->arguments[0], name);
  buffer_init(&query, QUERY_LIMIT);
  bool ok = file_text_read(&query, given->arguments[0], error) && call_open(&source, given, error) &&
            call_run(source, &QUERY_cmd_document_suggest, VALUES(query.data, name), &reply, error) &&
            print_command(given, reply, error);
  PQclear(reply);
  source_close(source);
  buffer_release(&query);
  return ok;
}

static const struct option OPTIONS[] = {
    {.name = "name",
     .value = "NAME",
     .help = "the document's name (default: that of the file, or one like it that is free)"},
    {.name = "target", .letter = 't', .value = "TARGET", .help = "the target (default: the only one for documents)"},
    {.name = "key",
     .letter = 'k',
     .value = "COLUMN",
     .help = "column of the query's result that identifies a document (default: what is compared with $1)"},
    OPTION_END,
};

const struct command COMMAND_document_suggest = {
    .name = "document suggest",
    .summary = "propose the command that adds a document, from its query",
    .arguments = "FILE",
    .least = 1,
    .most = 1,
    .options = OPTIONS,
    .notes =
        "FILE holds the document's query; its $1 is the array of keys to build. Foreign keys of the tables that\n"
        "it reads show how a changed row leads to documents. The command is printed, not run: read it, and compare\n"
        "it with the joins of the query. Tables from which no foreign key leads to the documents are told.\n",
    .examples = "rowrelay document suggest order_search.sql\n"
                "rowrelay document suggest order.sql --name order_search --target dw\n",
    .run = run,
};
