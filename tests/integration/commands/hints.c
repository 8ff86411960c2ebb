/*
 * What people are told to do can be done: each command that a text names, with its options, and each function and view,
 * is there.
 */
#include <criterion/criterion.h>
#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

#define MOST_TEXT 65536

static struct fixture f;
static int commands_seen;
static int names_seen;

/* What `rowrelay COMMAND [SUBCOMMAND] --help` says; "" if there is no such command. Each is asked for once. */
static const char *help_of(const char *command, const char *subcommand) {
  static struct {
    char words[64];
    char *text;
  } known[256];
  char words[64];
  size_t i = 0;
  snprintf(words, sizeof words, "%.30s %.30s", command, subcommand);
  while (known[i].text != NULL && strcmp(known[i].words, words) != 0)
    i++;
  cr_assert(i + 1 < sizeof known / sizeof *known);
  if (known[i].text == NULL) {
    const char *said;
    int status = *subcommand == '\0' ? rowrelay(&f, &said, NULL, command, "--help", NULL)
                                     : rowrelay(&f, &said, NULL, command, subcommand, "--help", NULL);
    memcpy(known[i].words, words, sizeof words);
    known[i].text = strdup(status == 0 ? said : "");
  }
  return known[i].text;
}

/* Copies the word at `text`, of letters and dashes in lower case, and gives what follows it and a blank. */
static const char *take_word(const char *text, char word[32]) {
  size_t length = 0;
  while (length < 31 && (islower((unsigned char)text[length]) || text[length] == '-' || text[length] == '_'))
    length++;
  memcpy(word, text, length);
  word[length] = '\0';
  return text[length] == ' ' ? text + length + 1 : text + length;
}

/* `text` follows "rowrelay ". `is_told` says that it stands where only a command can. */
static void check_command(const char *file, const char *text, bool is_told) {
  char command[32];
  char subcommand[32];
  const char *rest = take_word(text, command);
  if (*command == '\0' || *help_of(command, "") == '\0') {
    cr_expect(!is_told, "%s: there is no command \"%.60s\"", file, text);
    return;
  }
  commands_seen++;
  /* a command that has others under it lists them, and has no options of its own */
  const char *after = take_word(rest, subcommand);
  const char *help = *subcommand != '\0' && *subcommand != '-' ? help_of(command, subcommand) : "";
  if (*help != '\0')
    rest = after;
  else
    help = help_of(command, "");
  bool needs_subcommand = strcmp(command, "target") == 0 || strcmp(command, "document") == 0;
  cr_expect(!needs_subcommand || rest == after, "%s: there is no command \"%.60s\"", file, text);
  for (const char *c = rest; *c != '\0' && strchr(".;,:\n\"`", *c) == NULL; c++) {
    char option[32];
    if (strncmp(c, "--", 2) != 0 || c[-1] != ' ')
      continue;
    take_word(c, option);
    cr_expect(strstr(help, option) != NULL, "%s: \"rowrelay %.60s\": there is no option %s", file, text, option);
  }
}

/* `text` follows "rowrelay."; a function or a relation of that name must be there. */
static void check_name(const char *file, const char *text) {
  char name[64];
  size_t length = 0;
  while (length < 63 &&
         (islower((unsigned char)text[length]) || isdigit((unsigned char)text[length]) || text[length] == '_'))
    length++;
  memcpy(name, text, length);
  name[length] = '\0';
  if (length == 0 || strcmp(name, "service") == 0)
    return; /* the unit of systemd */
  names_seen++;
  cr_expect(
      ask_number(f.at_source,
                 "select (exists (select from pg_proc where pronamespace = 'rowrelay'::regnamespace and proname = "
                 "'%s') or to_regclass('rowrelay.%s') is not null)::int",
                 name, name) == 1,
      "%s: there is no rowrelay.%s", file, name);
}

/* A text as a person reads it, from whatever stands around it. */
static void check_text(const char *file, const char *text) {
  for (const char *found = text; (found = strstr(found, "rowrelay")) != NULL; found += strlen("rowrelay")) {
    if (found > text && (isalnum((unsigned char)found[-1]) || strchr("_-/.@%", found[-1]) != NULL))
      continue;
    const char *after = found + strlen("rowrelay");
    bool is_told = found > text && islower((unsigned char)after[1]) &&
                   (strchr("\"`", found[-1]) != NULL || (found - text > 1 && found[-2] == ':'));
    if (*after == ' ' && strncmp(after, " manual", 7) != 0)
      check_command(file, after + 1, is_told);
    else if (*after == '.')
      check_name(file, after + 1);
  }
}

/* Joins string literals that follow one another, and checks each text that comes of it. */
static void check_literals(const char *file, const char *source) {
  static char text[MOST_TEXT];
  size_t length = 0;
  bool in_text = false;
  for (const char *c = source; *c != '\0'; c++) {
    if (!in_text && strncmp(c, "/*", 2) == 0) {
      const char *end = strstr(c + 2, "*/");
      cr_assert(end != NULL);
      c = end + 1;
    } else if (!in_text && c[0] == '\'' && c[1] != '\0' && c[2] == '\'') {
      c += 2; /* '"' is a character */
    } else if (*c == '"') {
      in_text = !in_text;
    } else if (in_text && *c == '\\') {
      c++;
      text[length++] = *c == 'n' ? '\n' : *c;
    } else if (in_text) {
      text[length++] = *c;
    } else if (!isspace((unsigned char)*c) && length > 0) {
      text[length] = '\0';
      check_text(file, text);
      length = 0;
    }
    cr_assert(length + 1 < sizeof text);
  }
}

/* Checks what stands in quotes, beyond comments: in SQL that is what people are told, and statements that are made. */
static void check_quotes(const char *file, const char *source) {
  static char text[MOST_TEXT];
  for (const char *line = source; *line != '\0';) {
    size_t length = strcspn(line, "\n");
    const char *quote = memchr(line, '\'', length);
    bool tells =
        quote != NULL && (memmem(line, length, "hint", 4) != NULL || memmem(line, length, "rowrelay ", 9) != NULL);
    cr_assert(length < sizeof text);
    memcpy(text, line, length);
    text[length] = '\0';
    if (tells && strncmp(line + strspn(line, " "), "--", 2) != 0)
      check_text(file, strchr(text, '\''));
    line += line[length] == '\0' ? length : length + 1;
  }
}

static void check_files(const char *pattern, void (*check)(const char *file, const char *source)) {
  glob_t files;
  cr_assert_eq(glob(pattern, 0, NULL, &files), 0, "%s", pattern);
  for (size_t i = 0; i < files.gl_pathc; i++) {
    FILE *file = fopen(files.gl_pathv[i], "re");
    cr_assert(file != NULL);
    static char source[1024 * 1024];
    size_t length = fread(source, 1, sizeof source - 1, file);
    source[length] = '\0';
    fclose(file);
    check(files.gl_pathv[i], source);
  }
  globfree(&files);
}

Test(hints, every_command_option_function_and_view_that_a_text_names_is_there) {
  fixture_begin(&f, "hints");
  check_files("replicator/*.c", check_literals);
  check_files("replicator/*/*.c", check_literals);
  check_files("schema/functions/*/*.sql", check_quotes);
  check_files("schema/views/*.sql", check_quotes);
  check_files("triggers/*.sql", check_quotes);
  cr_expect(commands_seen > 30, "%d", commands_seen);
  cr_expect(names_seen > 10, "%d", names_seen);
  fixture_end(&f);
}

Test(hints, who_names_a_target_in_the_place_of_a_change_is_told_how) {
  const char *errors;
  fixture_begin(&f, "hints_retry");
  rowrelay_ok(&f, "target", "add", "dw", f.target_url, NULL);
  static const char *const COMMANDS[] = {"retry", "skip"};
  for (size_t i = 0; i < 2; i++) {
    cr_assert_eq(rowrelay(&f, NULL, &errors, COMMANDS[i], "dw", NULL), 2);
    char expected[100];
    snprintf(expected, sizeof expected, "rowrelay %s --all --target dw", COMMANDS[i]);
    cr_assert_not_null(strstr(errors, "\"dw\" is not a change id"), "%s", errors);
    cr_assert_not_null(strstr(errors, expected), "%s", errors);
    rowrelay_ok(&f, COMMANDS[i], "--all", "--target", "dw", NULL);
  }
  fixture_end(&f);
}
