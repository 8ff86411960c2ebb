#include "cli/command.h"

#include <string.h>

#include "common/spelling.h"

#define MOST_COMMANDS (sizeof COMMANDS / sizeof COMMANDS[0])
#define LONGEST_NAME 63

const struct command *const COMMANDS[] = {
    &COMMAND_init,          &COMMAND_capture,
    &COMMAND_release,       &COMMAND_target_add,
    &COMMAND_target_list,   &COMMAND_target_show,
    &COMMAND_target_set,    &COMMAND_target_pause,
    &COMMAND_target_resume, &COMMAND_target_drop,
    &COMMAND_target_test,   &COMMAND_route,
    &COMMAND_document_add,  &COMMAND_document_suggest,
    &COMMAND_document_list, &COMMAND_document_show,
    &COMMAND_document_drop, &COMMAND_document_rebuild,
    &COMMAND_export,        &COMMAND_apply,
    &COMMAND_backfill,      &COMMAND_run,
    &COMMAND_resume,        &COMMAND_health,
    &COMMAND_doctor,        &COMMAND_status,
    &COMMAND_errors,        &COMMAND_retry,
    &COMMAND_replay,        &COMMAND_skip,
    &COMMAND_log,           &COMMAND_undo,
    &COMMAND_redact,        &COMMAND_seal,
    &COMMAND_verify_log,    &COMMAND_verify,
    &COMMAND_keep,          &COMMAND_prune,
    &COMMAND_archive,       &COMMAND_uninstall,
    &COMMAND_help,
};
const size_t COMMAND_COUNT = sizeof COMMANDS / sizeof COMMANDS[0];

const struct option SHARED_OPTIONS[] = {
    {.name = "dbname",
     .letter = 'd',
     .value = "CONNINFO",
     .help = "the source: a database name, a URI or key=value pairs, as for psql"},
    {.name = "help", .letter = 'h', .help = "show this help"},
    {.name = "version", .letter = 'V', .help = "show the program's version"},
    OPTION_END,
};

const char PROGRAM_PURPOSE[] = "Copies every change of chosen PostgreSQL tables to other systems.";
const char PROGRAM_NOTES[] =
    "PG* variables and ~/.pgpass work as in psql. \"rowrelay help COMMAND\" shows help for a command.\n"
    "Exit status: 0 success, 1 failure, 2 wrong use, 3 \"verify\", \"verify-log\" or \"apply --dry-run\" found\n"
    "differences.\n";

/* How many words of a name `words` begins with: all of them, or 0. */
static size_t words_matched(const char *name, size_t count, const char *const *words) {
  size_t matched = 0;
  while (*name != '\0') {
    size_t length = strcspn(name, " ");
    if (matched == count || strlen(words[matched]) != length || memcmp(words[matched], name, length) != 0)
      return 0;
    matched++;
    name += length + (name[length] == ' ');
  }
  return matched;
}

static const char *nearest_name(const char *typed) {
  const char *names[MOST_COMMANDS];
  size_t count = 0;
  while (count < COMMAND_COUNT && count < MOST_COMMANDS) {
    names[count] = COMMANDS[count]->name;
    count++;
  }
  return spelling_nearest(typed, count, names);
}

/* The second word of a name whose first is `word`; NULL: it is not. */
static const char *second_word(const char *name, const char *word) {
  size_t length = strlen(word);
  return strncmp(name, word, length) == 0 && name[length] == ' ' ? name + length + 1 : NULL;
}

/* Lists the words that can follow `word`, such as "add, list"; nothing if `word` begins no name of two words. */
static void list_second_words(const char *word, char *list, size_t size) {
  size_t length = 0;
  for (size_t i = 0; i < COMMAND_COUNT && length < size; i++) {
    const char *second = second_word(COMMANDS[i]->name, word);
    if (second != NULL)
      length += (size_t)snprintf(list + length, size - length, "%s%s", length > 0 ? ", " : "", second);
  }
}

/* The names of which `word` is the second word, such as "target add" or "document add". */
static void list_whole_names(const char *word, char *list, size_t size) {
  size_t length = 0;
  for (size_t i = 0; i < COMMAND_COUNT && length < size; i++) {
    const char *space = strchr(COMMANDS[i]->name, ' ');
    if (space != NULL && strcmp(space + 1, word) == 0)
      length += (size_t)snprintf(list + length, size - length, "%s\"%s\"", length > 0 ? " or " : "", COMMANDS[i]->name);
  }
}

static bool fail_unknown(size_t count, const char *const *words, struct error *error) {
  char seconds[256] = "";
  list_second_words(words[0], seconds, sizeof seconds);
  bool group = seconds[0] != '\0';
  if (group && (count < 2 || words[1][0] == '-')) {
    error_set(error, FAILURE_USAGE, "command \"%s\" needs a second word", words[0]);
    return error_hint(error, "one of: %s", seconds);
  }
  char typed[LONGEST_NAME + 1];
  snprintf(typed, sizeof typed, "%s%s%s", words[0], group ? " " : "", group ? words[1] : "");
  error_set(error, FAILURE_USAGE, "unknown command \"%s\"", typed);
  char wholes[256] = "";
  list_whole_names(words[0], wholes, sizeof wholes);
  if (!group && wholes[0] != '\0')
    return error_hint(error, "did you mean %s?", wholes);
  const char *nearest = nearest_name(typed);
  if (nearest != NULL)
    return error_hint(error, "did you mean \"%s\"?", nearest);
  if (group)
    return error_hint(error, "one of: %s", seconds);
  return error_hint(error, "try: rowrelay --help");
}

bool command_find(size_t count, const char *const *words, const struct command **command, size_t *used,
                  struct error *error) {
  for (size_t i = 0; i < COMMAND_COUNT; i++) {
    size_t matched = words_matched(COMMANDS[i]->name, count, words);
    if (matched > 0) {
      *command = COMMANDS[i];
      *used = matched;
      return true;
    }
  }
  return fail_unknown(count, words, error);
}

bool command_check_arguments(const struct command *command, const struct options *given, struct error *error) {
  if (given->argument_count > command->most)
    return error_set(error, FAILURE_USAGE, "%s: unexpected argument \"%s\"", command->name,
                     given->arguments[command->most]);
  if (given->argument_count < command->least)
    return error_set(error, FAILURE_USAGE, "%s: missing argument: %s", command->name, command->arguments);
  for (const struct option *option = command->options; option->name != NULL; option++)
    if (option->required && !option_given(given, option->name)) {
      error_set(error, FAILURE_USAGE, "option --%s is missing", option->name);
      return error_hint(error, "add --%s %s: %s", option->name, option->value, option->help);
    }
  return true;
}

void command_add_notes(const struct command *command, struct buffer *text) {
  if (command->notes != NULL)
    buffer_add_string(text, command->notes);
  if (command->more_notes != NULL)
    command->more_notes(text);
}

/* Indented, a line each. */
static void print_examples(FILE *stream, const char *examples) {
  while (*examples != '\0') {
    size_t length = strcspn(examples, "\n");
    fprintf(stream, "  %.*s\n", (int)length, examples);
    examples += length + (examples[length] == '\n');
  }
}

void command_print_help(FILE *stream, const struct command *command) {
  struct buffer notes;
  buffer_init(&notes, COMMAND_NOTES_LIMIT);
  command_add_notes(command, &notes);
  bool has_options = command->options[0].name != NULL;
  fprintf(stream, "usage: rowrelay %s%s%s%s\n\n%s\n", command->name, command->arguments[0] != '\0' ? " " : "",
          command->arguments, has_options ? " [OPTION]..." : "", command->summary);
  if (notes.length > 0)
    fprintf(stream, "\n%s", notes.data);
  buffer_release(&notes);
  if (has_options) {
    fputs("\nOptions:\n", stream);
    option_print_help(stream, command->options);
  }
  fputs("\nOptions of every command:\n", stream);
  option_print_help(stream, SHARED_OPTIONS);
  if (command->examples != NULL) {
    fputs("\nExamples:\n", stream);
    print_examples(stream, command->examples);
  }
}

/* A line for each command; with a word, only for those of two words that begin with it. */
static void print_commands(FILE *stream, const char *word) {
  size_t widest = 0;
  for (size_t i = 0; i < COMMAND_COUNT; i++) {
    size_t width = strlen(COMMANDS[i]->name);
    widest = width > widest ? width : widest;
  }
  for (size_t i = 0; i < COMMAND_COUNT; i++)
    if (word == NULL || second_word(COMMANDS[i]->name, word) != NULL)
      fprintf(stream, "  %-*s  %s\n", (int)widest, COMMANDS[i]->name, COMMANDS[i]->summary);
}

bool command_print_group(FILE *stream, const char *word) {
  char seconds[256] = "";
  list_second_words(word, seconds, sizeof seconds);
  if (seconds[0] == '\0')
    return false;
  fprintf(stream, "usage: rowrelay %s COMMAND ...\n\nCommands:\n", word);
  print_commands(stream, word);
  fprintf(stream, "\n\"rowrelay help %s COMMAND\" shows help for each.\n", word);
  return true;
}

void command_print_summary(FILE *stream) {
  fprintf(stream,
          "usage: rowrelay [-d CONNINFO] COMMAND ...\n\n"
          "%s\n\n"
          "Commands:\n",
          PROGRAM_PURPOSE);
  print_commands(stream, NULL);
  fputs("\nOptions of every command:\n", stream);
  option_print_help(stream, SHARED_OPTIONS);
  fprintf(stream, "\n%s", PROGRAM_NOTES);
}
