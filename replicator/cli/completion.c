#include "cli/completion.h"

#include <string.h>

#include "cli/command.h"
#include "cli/names.h"

/* Length of the first word of a command's name. */
static size_t first_length(const struct command *command) {
  return strcspn(command->name, " ");
}

/* Whether the name has two words. */
static bool is_grouped(const struct command *command) {
  return command->name[first_length(command)] != '\0';
}

static bool same_first(const struct command *one, const struct command *other) {
  return first_length(one) == first_length(other) && memcmp(one->name, other->name, first_length(one)) == 0;
}

/* Whether no command before the index-th begins with the same word. */
static bool is_first_of_its_word(size_t index) {
  for (size_t i = 0; i < index; i++)
    if (same_first(COMMANDS[i], COMMANDS[index]))
      return false;
  return true;
}

static bool is_path(const char *value) {
  return strcmp(value, "FILE") == 0 || strcmp(value, "DIR") == 0;
}

static bool takes_paths(const struct command *command) {
  return strstr(command->arguments, "DIR") != NULL || strstr(command->arguments, "FILE") != NULL;
}

/* Whether the next word is always its value. */
static bool needs_value(const struct option *option) {
  return option->value != NULL && option->implied == NULL;
}

/* Prints text for within single quotes, with `\` before each of `escaped`. */
static void print_quoted(FILE *stream, const char *text, const char *escaped, const char *quote) {
  for (; *text != '\0'; text++)
    if (*text == '\'')
      fputs(quote, stream);
    else
      fprintf(stream, "%s%c", strchr(escaped, *text) != NULL ? "\\" : "", *text);
}

/* Prints the words that can stand first, and those that can follow a group's name; `print` gets each with its length.
 */
static void print_first_words(FILE *stream, void (*print)(FILE *, const struct command *, const char *, size_t)) {
  for (size_t i = 0; i < COMMAND_COUNT; i++)
    if (is_first_of_its_word(i))
      print(stream, COMMANDS[i], COMMANDS[i]->name, first_length(COMMANDS[i]));
}

static void print_second_words(FILE *stream, const struct command *group,
                               void (*print)(FILE *, const struct command *, const char *, size_t)) {
  for (size_t i = 0; i < COMMAND_COUNT; i++)
    if (same_first(COMMANDS[i], group)) {
      const char *word = COMMANDS[i]->name + first_length(group) + 1;
      print(stream, COMMANDS[i], word, strlen(word));
    }
}

/* Prints the groups' names with something between. */
static void print_groups(FILE *stream, const char *between) {
  const char *before = "";
  for (size_t i = 0; i < COMMAND_COUNT; i++)
    if (is_grouped(COMMANDS[i]) && is_first_of_its_word(i)) {
      fprintf(stream, "%s%.*s", before, (int)first_length(COMMANDS[i]), COMMANDS[i]->name);
      before = between;
    }
}

/* Prints the names of options, with something between, of those that `chosen` says; NULL: of all. */
static void print_names(FILE *stream, const struct option *table, const char *between,
                        bool (*chosen)(const struct option *)) {
  const char *before = "";
  for (const struct option *option = table; option->name != NULL; option++) {
    if (chosen != NULL && !chosen(option))
      continue;
    fprintf(stream, "%s--%s", before, option->name);
    if (option->letter != '\0')
      fprintf(stream, "%s-%c", between, option->letter);
    before = between;
  }
}

static bool needs_path(const struct option *option) {
  return needs_value(option) && is_path(option->value);
}

static void print_word(FILE *stream, const struct command *command, const char *word, size_t length) {
  (void)command;
  fprintf(stream, " %.*s", (int)length, word);
}

static void print_bash_command(FILE *stream, const struct command *command) {
  fprintf(stream, "    '%s') options+=' ", command->name);
  print_names(stream, command->options, " ", NULL);
  fputs("' valued+=' ", stream);
  print_names(stream, command->options, " ", needs_value);
  fputs("' paths+=' ", stream);
  print_names(stream, command->options, " ", needs_path);
  fprintf(stream, "'%s ;;\n", takes_paths(command) ? " files=yes" : "");
}

/* Completes the current word from the lists that the script has set by then. */
static const char BASH_END[] = "  esac\n"
                               "  COMPREPLY=()\n"
                               "  if [[ $cur == [=:] ]]; then\n"
                               "    prev=$cur cur=\n"
                               "  fi\n"
                               "  if [[ $prev == [=:] ]]; then\n"
                               "    prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
                               "    [[ ${COMP_WORDS[COMP_CWORD]} != [=:] ]] || prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
                               "    if [[ \"$paths \" != *\" $prev \"* ]]; then _rowrelay_names; return 0; fi\n"
                               "  fi\n"
                               "  if [[ \"$valued \" == *\" $prev \"* ]]; then\n"
                               "    if [[ \"$paths \" != *\" $prev \"* ]]; then _rowrelay_names; return 0; fi\n"
                               "    files=yes\n"
                               "  elif [[ $cur == -* ]]; then\n"
                               "    mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\")\n"
                               "    return 0\n"
                               "  fi\n"
                               "  if [[ -n $files ]]; then\n"
                               "    compopt -o filenames 2>/dev/null\n"
                               "    mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
                               "  else\n"
                               "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
                               "    [[ -n $words ]] || _rowrelay_names\n"
                               "  fi\n"
                               "}\n"
                               "complete -F _rowrelay rowrelay\n";

/* bash takes a line apart at each = and :, and gives quotes and backslashes as they are typed. */
static const char BASH_NAMES[] =
    "_rowrelay_names() { # tables, targets, documents or values, whatever comes next\n"
    "  local begin=$cur quote='' i typed=(\"${COMP_WORDS[@]:1:COMP_CWORD-1}\")\n"
    "  [[ ${COMP_WORDS[COMP_CWORD]} != [=:] ]] || typed+=(\"${COMP_WORDS[COMP_CWORD]}\")\n"
    "  case $begin in\n"
    "    [\\'\\\"]*) quote=${begin:0:1} begin=${begin:1} ;;\n"
    "    *) begin=${begin//\\\\/} ;;\n"
    "  esac\n"
    "  mapfile -t COMPREPLY < <(rowrelay help --names \"$begin\" -- \"${typed[@]}\" 2>/dev/null)\n"
    "  [[ ${COMPREPLY[*]} != *[=:] ]] || compopt -o nospace 2>/dev/null\n"
    "  [[ -z $quote ]] || return 0\n"
    "  for i in \"${!COMPREPLY[@]}\"; do printf -v \"COMPREPLY[i]\" %q \"${COMPREPLY[i]}\"; done\n"
    "}\n";

static void print_bash(FILE *stream) {
  fprintf(stream, "# Completes words of rowrelay in bash; printed by: rowrelay help --completion bash\n%s", BASH_NAMES);
  fputs("_rowrelay() {\n"
        "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} i=1 command='' words='' files=''\n"
        "  while ((i < COMP_CWORD)); do\n"
        "    case ${COMP_WORDS[i]} in\n"
        "      ",
        stream);
  print_names(stream, SHARED_OPTIONS, " | ", needs_value);
  fputs(") if [[ ${COMP_WORDS[i + 1]} == = ]]; then ((i += 3)); else ((i += 2)); fi ;;\n"
        "      help | -*) ((i += 1)) ;;\n"
        "      *) break ;;\n"
        "    esac\n"
        "  done\n"
        "  ((i < COMP_CWORD)) && command=${COMP_WORDS[i]}\n"
        "  case $command in\n"
        "    ",
        stream);
  print_groups(stream, " | ");
  fputs(") ((i + 1 < COMP_CWORD)) && command+=\" ${COMP_WORDS[i + 1]}\" ;;\n"
        "  esac\n"
        "  local options='",
        stream);
  print_names(stream, SHARED_OPTIONS, " ", NULL);
  fputs("' valued=' ", stream);
  print_names(stream, SHARED_OPTIONS, " ", needs_value);
  fputs("' paths=''\n"
        "  case $command in\n"
        "    '') words='",
        stream);
  print_first_words(stream, print_word);
  fputs("' ;;\n", stream);
  for (size_t i = 0; i < COMMAND_COUNT; i++) {
    if (is_grouped(COMMANDS[i]) && is_first_of_its_word(i)) {
      fprintf(stream, "    %.*s) words='", (int)first_length(COMMANDS[i]), COMMANDS[i]->name);
      print_second_words(stream, COMMANDS[i], print_word);
      fputs("' ;;\n", stream);
    }
    print_bash_command(stream, COMMANDS[i]);
  }
  fputs(BASH_END, stream);
}

#define ZSH_QUOTE "'\\''"

/* One word with what it means, for _describe. */
static void print_zsh_word(FILE *stream, const struct command *command, const char *word, size_t length) {
  bool begins_group = is_grouped(command) && word == command->name;
  fprintf(stream, "      '%.*s", (int)length, word);
  if (!begins_group) {
    fputc(':', stream);
    print_quoted(stream, command->summary, ":\\", ZSH_QUOTE);
  }
  fputs("'\n", stream);
}

static void print_zsh_option(FILE *stream, const struct option *option) {
  const char *takes = needs_value(option) ? "=" : "";
  fputs("        ", stream);
  if (option->repeatable)
    fputs("'*'", stream);
  else if (option->letter != '\0')
    fprintf(stream, "'(-%c --%s)'", option->letter, option->name);
  if (option->letter != '\0')
    fprintf(stream, "{-%c%s,--%s%s}'", option->letter, needs_value(option) ? "+" : "", option->name, takes);
  else
    fprintf(stream, "'--%s%s", option->name, takes);
  fputc('[', stream);
  print_quoted(stream, option->help, "[]\\", ZSH_QUOTE);
  fputc(']', stream);
  if (option->value != NULL) {
    fputs(option->implied != NULL ? "::" : ":", stream);
    print_quoted(stream, option->value, ":\\", ZSH_QUOTE);
    fputs(is_path(option->value) ? ":_files" : names_has_option(option) ? ":_rowrelay_names" : ": ", stream);
  }
  fputs("'\n", stream);
}

static void print_zsh_command(FILE *stream, const struct command *command) {
  fprintf(stream, "    ('%s')\n      specs=(\n", command->name);
  for (const struct option *option = command->options; option->name != NULL; option++)
    print_zsh_option(stream, option);
  if (takes_paths(command))
    fputs("        '*:file:_files'\n", stream);
  else if (names_has_arguments(command))
    fputs("        '*:name:_rowrelay_names'\n", stream);
  fputs("      ) ;;\n", stream);
}

/* Tables, targets, documents or values, whatever comes next. */
static const char ZSH_NAMES[] =
    "_rowrelay_names() {\n"
    "  local -a found=(${(f)\"$(rowrelay help --names \"${(Q)PREFIX}\" -- \"${(@)typed}\" 2>/dev/null)\"})\n"
    "  compadd -S '' -- ${(M)found:#*[=:]}\n"
    "  compadd -- ${found:#*[=:]}\n"
    "}\n";

static void print_zsh(FILE *stream) {
  fprintf(stream,
          "#compdef rowrelay\n"
          "# Completes words of rowrelay in zsh; printed by: rowrelay help --completion zsh\n%s",
          ZSH_NAMES);
  fputs("_rowrelay() {\n"
        "  local i=2 command=\n"
        "  local -a commands specs typed=(\"${(@)words[2,CURRENT-1]}\")\n"
        "  while (( i < CURRENT )); do\n"
        "    case $words[i] in\n"
        "      (",
        stream);
  print_names(stream, SHARED_OPTIONS, "|", needs_value);
  fputs(") (( i += 2 )) ;;\n"
        "      (help|-*) (( i += 1 )) ;;\n"
        "      (*) break ;;\n"
        "    esac\n"
        "  done\n"
        "  (( i < CURRENT )) && command=$words[i]\n"
        "  case $command in\n"
        "    (",
        stream);
  print_groups(stream, "|");
  fputs(") (( i + 1 < CURRENT )) && (( i += 1 )) && command+=\" $words[i]\" ;;\n"
        "  esac\n"
        "  case $command in\n"
        "    ('') commands=(\n",
        stream);
  print_first_words(stream, print_zsh_word);
  fputs("    ) ;;\n", stream);
  for (size_t i = 0; i < COMMAND_COUNT; i++) {
    if (is_grouped(COMMANDS[i]) && is_first_of_its_word(i)) {
      fprintf(stream, "    (%.*s) commands=(\n", (int)first_length(COMMANDS[i]), COMMANDS[i]->name);
      print_second_words(stream, COMMANDS[i], print_zsh_word);
      fputs("    ) ;;\n", stream);
    }
    print_zsh_command(stream, COMMANDS[i]);
  }
  fputs("  esac\n"
        "  specs+=(\n",
        stream);
  for (const struct option *option = SHARED_OPTIONS; option->name != NULL; option++)
    print_zsh_option(stream, option);
  fputs("  )\n"
        "  if (( $#commands )) && [[ $words[CURRENT] != -* && $words[CURRENT-1] != (",
        stream);
  print_names(stream, SHARED_OPTIONS, "|", needs_value);
  fputs(") ]]; then\n"
        "    _describe -t commands command commands\n"
        "    return\n"
        "  fi\n"
        "  if [[ -n $command ]]; then\n"
        "    words=(\"$command\" \"${(@)words[i+1,-1]}\")\n"
        "    (( CURRENT -= i - 1 ))\n"
        "  fi\n"
        "  _arguments -s -S : $specs\n"
        "}\n"
        "if [[ $funcstack[1] == _rowrelay ]]; then _rowrelay \"$@\"; else compdef _rowrelay rowrelay; fi\n",
        stream);
}

#define FISH_QUOTE "\\'"

static void print_fish_word(FILE *stream, const struct command *command, const char *word, size_t length) {
  bool begins_group = is_grouped(command) && word == command->name;
  bool is_second = is_grouped(command) && !begins_group;
  fprintf(stream, "complete -c rowrelay -n '__rowrelay_at \"%.*s\"' -a %.*s",
          is_second ? (int)first_length(command) : 0, command->name, (int)length, word);
  if (!begins_group) {
    fputs(" -d '", stream);
    print_quoted(stream, command->summary, "\\", FISH_QUOTE);
    fputc('\'', stream);
  }
  fputc('\n', stream);
}

static void print_fish_options(FILE *stream, const char *command, const struct option *table) {
  for (const struct option *option = table; option->name != NULL; option++) {
    fputs("complete -c rowrelay", stream);
    if (command != NULL)
      fprintf(stream, " -n '__rowrelay_at \"%s\"'", command);
    if (option->letter != '\0')
      fprintf(stream, " -s %c", option->letter);
    fprintf(stream, " -l %s", option->name);
    if (needs_value(option))
      fputs(is_path(option->value) ? " -r -F" : " -x", stream);
    if (names_has_option(option))
      fputs(" -a '(__rowrelay_names)'", stream);
    fputs(" -d '", stream);
    print_quoted(stream, option->help, "\\", FISH_QUOTE);
    fputs("'\n", stream);
  }
}

static void print_fish(FILE *stream) {
  fputs("# Completes words of rowrelay in fish; printed by: rowrelay help --completion fish\n"
        "function __rowrelay_at --description 'Whether the words so far name this command'\n"
        "  set -l words (commandline -opc)\n"
        "  set -e words[1]\n"
        "  while set -q words[1]\n"
        "    switch $words[1]\n"
        "      case ",
        stream);
  print_names(stream, SHARED_OPTIONS, " ", needs_value);
  fputs("\n"
        "        set -e words[1]\n"
        "        set -q words[1]; and set -e words[1]\n"
        "      case help '-*'\n"
        "        set -e words[1]\n"
        "      case '*'\n"
        "        break\n"
        "    end\n"
        "  end\n"
        "  set -l command \"$words[1]\"\n"
        "  if contains -- \"$command\" ",
        stream);
  print_groups(stream, " ");
  fputs("; and set -q words[2]\n"
        "    set command \"$words[1] $words[2]\"\n"
        "  end\n"
        "  test \"$command\" = \"$argv[1]\"\n"
        "end\n"
        "function __rowrelay_names --description 'Tables, targets or documents, whatever comes next'\n"
        "  set -l words (commandline -opc)\n"
        "  set -e words[1]\n"
        "  set -l begin (commandline -ct)\n"
        "  rowrelay help --names \"$begin\" -- $words 2>/dev/null\n"
        "end\n"
        "complete -c rowrelay -f\n",
        stream);
  print_fish_options(stream, NULL, SHARED_OPTIONS);
  print_first_words(stream, print_fish_word);
  for (size_t i = 0; i < COMMAND_COUNT; i++) {
    if (is_grouped(COMMANDS[i]) && is_first_of_its_word(i))
      print_second_words(stream, COMMANDS[i], print_fish_word);
    print_fish_options(stream, COMMANDS[i]->name, COMMANDS[i]->options);
    if (takes_paths(COMMANDS[i]))
      fprintf(stream, "complete -c rowrelay -n '__rowrelay_at \"%s\"' -F\n", COMMANDS[i]->name);
    else if (names_has_arguments(COMMANDS[i]))
      fprintf(stream, "complete -c rowrelay -n '__rowrelay_at \"%s\"' -a '(__rowrelay_names)'\n", COMMANDS[i]->name);
  }
}

bool completion_print(FILE *stream, const char *shell, struct error *error) {
  static const struct {
    const char *shell;
    void (*print)(FILE *stream);
  } SCRIPTS[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
  for (size_t i = 0; i < sizeof SCRIPTS / sizeof SCRIPTS[0]; i++)
    if (strcmp(SCRIPTS[i].shell, shell) == 0) {
      SCRIPTS[i].print(stream);
      return true;
    }
  return error_set(error, FAILURE_USAGE, "--completion must be bash, zsh or fish, not \"%s\"", shell);
}
