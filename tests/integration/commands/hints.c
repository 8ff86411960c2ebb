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
static int hints_seen;
static int both_seen; /* texts for either kind of asker */

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
  /* the unit of systemd, and settings */
  if (length == 0 || strcmp(name, "service") == 0 || strcmp(name, "publish_anyway") == 0 ||
      strcmp(name, "at_target") == 0)
    return;
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
  check_files("replicator/doctor/sql/*.sql", check_quotes);
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
    cr_assert_eq(rowrelay(&f, NULL, &errors, COMMANDS[i], "1", "nosuch", NULL), 2);
    cr_assert_not_null(strstr(errors, "\"nosuch\" is not a change id\nhint: to see the ids, run: rowrelay errors\n"),
                       "%s", errors);
  }
  fixture_end(&f);
}

/* ---- in the words of who asked --------------------------------------------------------------------------------- */

/* The last quote of a string of SQL whose first one is at `c`. */
static const char *end_of_string(const char *c) {
  for (c++; *c != '\0' && (c[0] != '\'' || c[1] == '\''); c++)
    if (c[0] == '\'')
      c++;
  return c;
}

/* The parenthesis that closes the one at `c`. */
static const char *end_of_call(const char *c) {
  int depth = 0;
  for (; *c != '\0'; c++) {
    if (*c == '\'')
      c = end_of_string(c);
    depth += (*c == '(') - (*c == ')');
    if (depth == 0)
      return c;
  }
  return c;
}

/*
 * Copies the next text between `c` and `end`: literals that follow one another are one. Gives what follows it, or NULL
 * when none is left.
 */
static const char *take_text(const char *c, const char *end, char *text) {
  size_t length = 0;
  while (c < end && *c != '\'')
    c++;
  if (c >= end)
    return NULL;
  while (c < end && *c == '\'') {
    const char *last = end_of_string(c);
    for (c++; c < last; c++) {
      cr_assert(length + 1 < MOST_TEXT);
      text[length++] = *c;
      c += *c == '\'';
    }
    c = last + 1;
    c += strspn(c, " \n");
  }
  text[length] = '\0';
  return c;
}

/* Each parameter that `text` names, `x => y`, must be one of a function that it names. */
static void check_parameters(const char *file, const char *text) {
  const char *arrow = text;
  while ((arrow = strstr(arrow, " => ")) != NULL) {
    const char *name = arrow;
    while (name > text && (islower((unsigned char)name[-1]) || name[-1] == '_'))
      name--;
    cr_expect(ask_number(f.at_source,
                         "select count(*) from pg_proc where pronamespace = 'rowrelay'::regnamespace "
                         "and strpos($t$%s$t$, 'rowrelay.' || proname || '(') > 0 and '%.*s' = any (proargnames)",
                         text, (int)(arrow - name), name) > 0,
              "%s: \"%s\": there is no parameter %.*s", file, text, (int)(arrow - name), name);
    arrow++;
  }
}

/* What rowrelay.command() is given: commands and statements that are there. */
static void check_both(const char *file, const char *call, const char *end) {
  static char text[MOST_TEXT];
  const char *shell = take_text(call, end, text);
  cr_assert(shell != NULL);
  cr_expect(strstr(text, "rowrelay.") == NULL && strstr(text, " => ") == NULL, "%s: SQL for a shell: %s", file, text);
  check_text(file, text);
  if (strncmp(text, "rowrelay ", 9) == 0)
    check_command(file, text + 9, true);
  for (const char *c = shell; (c = take_text(c, end, text)) != NULL;) {
    cr_expect(strstr(text, "--") == NULL || strstr(text, "in a shell") != NULL, "%s: options in SQL: %s", file, text);
    check_text(file, text);
    check_parameters(file, text);
  }
}

/* What a hint says to everybody: neither a command, but for `rowrelay run`, which is a process, nor SQL of ours. */
static void check_neutral(const char *file, const char *text) {
  char command[32];
  for (const char *c = text; (c = strstr(c, "rowrelay ")) != NULL; c++) {
    take_word(c + 9, command);
    cr_expect(strcmp(command, "run") == 0 || *command == '\0' || *help_of(command, "") == '\0',
              "%s: a hint names a command to those who asked in SQL: %s", file, text);
  }
  for (const char *c = text; (c = strstr(c, "rowrelay.")) != NULL; c++)
    cr_expect(c[strcspn(c, " (;")] != '(', "%s: a hint names a function to those who typed a command: %s", file, text);
  cr_expect(strstr(text, " => ") == NULL && strcasestr(text, "view rowrelay.") == NULL && strstr(text, "--") == NULL,
            "%s: a hint of one kind only: %s", file, text);
}

/* The hint whose value begins at `c`: up to the end of the statement. */
static void check_hint(const char *file, const char *c) {
  static char text[MOST_TEXT];
  static const char COMMAND[] = "rowrelay.command(";
  for (; *c != '\0' && *c != ';'; c++) {
    if (strncmp(c, COMMAND, sizeof COMMAND - 1) == 0) {
      const char *call = c + sizeof COMMAND - 2;
      c = end_of_call(call);
      check_both(file, call, c);
      both_seen++;
    } else if (*c == '\'') {
      const char *after = take_text(c, c + strlen(c), text);
      check_neutral(file, text);
      c = after - 1;
    }
  }
}

static void check_hints(const char *file, const char *source) {
  for (const char *c = source; (c = strstr(c, "hint")) != NULL; c += strlen("hint")) {
    const char *value = c + strlen("hint");
    value += strspn(value, " :");
    if (*value == '=' && (c == source || !isalnum((unsigned char)c[-1]))) {
      check_hint(file, value + 1);
      hints_seen++;
    }
  }
}

Test(hints, every_hint_of_a_function_is_in_the_words_of_who_asked) {
  fixture_begin(&f, "hints_words");
  check_files("schema/functions/*/*.sql", check_hints);
  check_files("triggers/*.sql", check_hints);
  cr_expect(hints_seen > 100, "%d", hints_seen);
  cr_expect(both_seen > 50, "%d", both_seen);
  fixture_end(&f);
}

/* What a text says after `words`, up to the end of its line. */
static const char *told(const char *text, const char *words) {
  static char command[1024];
  const char *found = strstr(text, words);
  cr_assert(found != NULL, "\"%s\" does not say \"%s\"", text, words);
  found += strlen(words);
  snprintf(command, sizeof command, "%.*s", (int)strcspn(found, "\n"), found);
  return command;
}

/* Types what a hint says. */
static void type(const char *command) {
  static char line[2048];
  cr_assert(strncmp(command, "rowrelay ", 9) == 0, "%s", command);
  setenv("HINTS_SOURCE", f.source, 1);
  snprintf(line, sizeof line, "\"$ROWRELAY_BIN\" -d \"$HINTS_SOURCE\" %s >/dev/null", command + 9);
  cr_assert(system(line) == 0, "%s", command);
}

static const char *hint_in_sql(const char *statement) {
  static char hint[1024];
  PGresult *result = PQexec(f.at_source, statement);
  const char *found = PQresultErrorField(result, PG_DIAG_MESSAGE_HINT);
  cr_assert(found != NULL, "%s: %s", statement, PQresultErrorMessage(result));
  snprintf(hint, sizeof hint, "%s", found);
  PQclear(result);
  return hint;
}

/* Names that no shell, and no SQL, takes as they are. */
#define ODD_TABLE "\"Shop 1\".\"Ann's $x \"\"100%\"\"\""
#define ODD_TARGET "Ann's $(t) \"100%\""
#define ODD_TABLE_IN_SQL "'\"Shop 1\".\"Ann''s $x \"\"100%\"\"\"'"
#define ODD_TARGET_IN_SQL "'Ann''s $(t) \"100%\"'"

static void begin_odd(const char *name) {
  fixture_begin(&f, name);
  sql(f.at_source, "create schema \"Shop 1\"; create table \"Shop 1\".\"Ann's $x \"\"100%%\"\"\" (id int primary key)");
  rowrelay_ok(&f, "target", "add", ODD_TARGET, f.target_url, NULL);
}

Test(hints, what_a_command_is_told_can_be_typed_whatever_the_names_are) {
  const char *errors;
  begin_odd("hints_typed");
  cr_assert_neq(rowrelay(&f, NULL, &errors, "undo", ODD_TABLE, "1", "1", NULL), 0);
  type(told(errors, "Capture it first: "));
  cr_assert_neq(rowrelay(&f, NULL, &errors, "undo", ODD_TABLE, "1", "1", NULL), 0);
  type(told(errors, "To list its changes: "));
  cr_assert_neq(rowrelay(&f, NULL, &errors, "backfill", ODD_TABLE, "--to", ODD_TARGET, NULL), 0);
  type(told(errors, "Route it first: "));
  cr_assert_eq(ask_number(f.at_source, "select count(*) from rowrelay.captures where targets = array[%s]",
                          "'Ann''s $(t) \"100%\"'"),
               1);
  cr_assert_neq(rowrelay(&f, NULL, &errors, "replay", ODD_TARGET, "--since", "yesterday", NULL), 0);
  cr_assert_not_null(strstr(errors, "rowrelay verify 'Ann'\\''s $(t) \"100%\"' --repair\n"), "%s", errors);
  cr_assert_neq(rowrelay(&f, NULL, &errors, "target", "add", ODD_TARGET, f.target_url, NULL), 0);
  cr_assert_not_null(strstr(errors, "rowrelay target drop 'Ann'\\''s $(t) \"100%\"'"), "%s", errors);
  type(strstr(told(errors, "Change it: "), "rowrelay target drop"));
  cr_assert_eq(ask_number(f.at_source, "select count(*) from rowrelay.targets"), 0);
  fixture_end(&f);
}

Test(hints, what_sql_is_told_can_be_run_whatever_the_names_are) {
  begin_odd("hints_run");
  const char *hint = hint_in_sql("select rowrelay.route(" ODD_TABLE_IN_SQL ", " ODD_TARGET_IN_SQL ")");
  sql(f.at_source, "%s", told(hint, "Capture it first: "));
  hint = hint_in_sql("select rowrelay.backfill(" ODD_TABLE_IN_SQL ", " ODD_TARGET_IN_SQL ")");
  sql(f.at_source, "%s", told(hint, "Route it first: "));
  hint = hint_in_sql("select rowrelay.undo(" ODD_TABLE_IN_SQL ", '1', 1)");
  sql(f.at_source, "%s", told(hint, "To list its changes: "));
  hint = hint_in_sql("select rowrelay.cancel_backfill(" ODD_TABLE_IN_SQL ", " ODD_TARGET_IN_SQL ")");
  sql(f.at_source, "%s", told(hint, "To see those under way: "));
  hint = hint_in_sql("select rowrelay.add_target(" ODD_TARGET_IN_SQL ", 'postgresql:')");
  sql(f.at_source, "%s", strstr(told(hint, "Change it: "), "select rowrelay.drop_target"));
  cr_assert_eq(ask_number(f.at_source, "select count(*) from rowrelay.targets"), 0);
  fixture_end(&f);
}
