#include "cli/option.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/spelling.h"
#include "common/text.h"

bool option_init(struct options *given, const struct option *shared, size_t word_count, struct error *error) {
  *given = (struct options){
      .shared = shared,
      /* A word may hold several flags, so uses grow as they come; each word is at most one argument. */
      .arguments = calloc(word_count + 1, sizeof *given->arguments),
  };
  if (given->arguments == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  return true;
}

void option_release(struct options *given) {
  free(given->uses);
  free(given->arguments);
  *given = (struct options){.shared = given->shared};
}

static const struct option *find_in(const struct option *table, const char *name, size_t length) {
  for (const struct option *option = table; option != NULL && option->name != NULL; option++)
    if (strlen(option->name) == length && memcmp(option->name, name, length) == 0)
      return option;
  return NULL;
}

static const struct option *find_by_name(const struct options *given, const char *name, size_t length) {
  const struct option *option = find_in(given->own, name, length);
  return option != NULL ? option : find_in(given->shared, name, length);
}

static const struct option *find_by_letter(const struct options *given, char letter) {
  const struct option *const tables[] = {given->own, given->shared};
  for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
    for (const struct option *option = tables[i]; option != NULL && option->name != NULL; option++)
      if (option->letter == letter)
        return option;
  return NULL;
}

static bool is_shared(const struct options *given, const struct option *option) {
  return find_in(given->shared, option->name, strlen(option->name)) == option;
}

/*
 * Of two values the last one would win, silently. That is meant where all commands share the option: an alias gives it
 * before the command, and a person after it.
 */
static bool check_use(const struct options *given, const struct option *option, const char *text, struct error *error) {
  if (is_shared(given, option))
    return true;
  for (size_t i = 0; i < given->use_count; i++)
    if (given->uses[i].option == option && !option->repeatable && strcmp(given->uses[i].text, text) != 0) {
      error_set(error, FAILURE_USAGE, "option --%s is given twice, with different values", option->name);
      return error_hint(error, "give it once");
    }
  return true;
}

static bool add_use(struct options *given, const struct option *option, const char *text, struct error *error) {
  if (!check_use(given, option, text, error))
    return false;
  struct option_use *uses = realloc(given->uses, (given->use_count + 1) * sizeof *uses);
  if (uses == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  given->uses = uses;
  given->uses[given->use_count++] = (struct option_use){.option = option, .text = text};
  return true;
}

/* The words of the command line, and how far they are read. */
struct cursor {
  size_t count;
  const char *const *words;
  size_t position; /* of the next word */
};

/* Takes the value that an option without `=` needs from the words behind it. */
static bool add_use_with_next(struct options *given, const struct option *option, struct cursor *cursor,
                              struct error *error) {
  if (option->value == NULL)
    return add_use(given, option, "", error);
  const char *next = cursor->position < cursor->count ? cursor->words[cursor->position] : NULL;
  if (option->implied != NULL && (next == NULL || next[0] == '-'))
    return add_use(given, option, option->implied, error);
  if (next == NULL)
    return error_set(error, FAILURE_USAGE, "option --%s needs a value: %s", option->name, option->value);
  cursor->position++;
  return add_use(given, option, next, error);
}

#define MOST_OPTIONS 64 /* of a command */

/* Names what may have been meant. */
static bool fail_unknown(const struct options *given, const char *name, struct error *error) {
  const struct option *const tables[] = {given->own, given->shared};
  const char *names[MOST_OPTIONS];
  size_t count = 0;
  for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
    for (const struct option *option = tables[i]; option != NULL && option->name != NULL && count < MOST_OPTIONS;
         option++)
      names[count++] = option->name;
  error_set(error, FAILURE_USAGE, "unknown option --%s", name);
  const char *nearest = spelling_nearest(name, count, names);
  return nearest != NULL ? error_hint(error, "did you mean --%s?", nearest) : false;
}

static bool parse_long(struct options *given, const char *word, struct cursor *cursor, struct error *error) {
  const char *name = word + 2;
  size_t length = strcspn(name, "=");
  const struct option *option = find_by_name(given, name, length);
  if (option == NULL) {
    char typed[80];
    text_print(typed, sizeof typed, "%.*s", (int)length, name);
    return fail_unknown(given, typed, error);
  }
  if (name[length] == '\0')
    return add_use_with_next(given, option, cursor, error);
  if (option->value == NULL)
    return error_set(error, FAILURE_USAGE, "option --%s takes no value", option->name);
  return add_use(given, option, name + length + 1, error);
}

static bool parse_short(struct options *given, const char *word, struct cursor *cursor, struct error *error) {
  for (const char *letter = word + 1; *letter != '\0'; letter++) {
    const struct option *option = find_by_letter(given, *letter);
    if (option == NULL)
      return error_set(error, FAILURE_USAGE, "unknown option -%c", *letter);
    if (option->value != NULL && letter[1] != '\0')
      return add_use(given, option, letter + 1, error);
    if (!add_use_with_next(given, option, cursor, error))
      return false;
  }
  return true;
}

/* Reads on; ends before the first argument when `leading`. */
static bool parse_words(struct options *given, struct cursor *cursor, bool leading, struct error *error) {
  bool only_arguments = false;
  while (cursor->position < cursor->count) {
    const char *word = cursor->words[cursor->position];
    bool is_option = !only_arguments && word[0] == '-' && word[1] != '\0';
    if (!is_option && leading)
      break;
    cursor->position++;
    if (!is_option)
      given->arguments[given->argument_count++] = word;
    else if (strcmp(word, "--") == 0)
      only_arguments = true;
    else if (!(word[1] == '-' ? parse_long(given, word, cursor, error) : parse_short(given, word, cursor, error)))
      return false;
  }
  return true;
}

bool option_parse_leading(struct options *given, size_t count, const char *const *words, size_t *used,
                          struct error *error) {
  struct cursor cursor = {.count = count, .words = words};
  bool ok = parse_words(given, &cursor, true, error);
  *used = cursor.position;
  return ok;
}

bool option_parse(struct options *given, const struct option *own, size_t count, const char *const *words,
                  struct error *error) {
  struct cursor cursor = {.count = count, .words = words};
  given->own = own;
  return parse_words(given, &cursor, false, error);
}

static const struct option *find_known(const struct options *given, const char *name) {
  const struct option *option = find_by_name(given, name, strlen(name));
  if (option == NULL) {
    fprintf(stderr, "rowrelay: bug: no option table has --%s\n", name);
    abort();
  }
  return option;
}

size_t option_count(const struct options *given, const char *name) {
  const struct option *option = find_known(given, name);
  size_t count = 0;
  for (size_t i = 0; i < given->use_count; i++)
    count += given->uses[i].option == option;
  return count;
}

const char *option_at(const struct options *given, const char *name, size_t index) {
  const struct option *option = find_known(given, name);
  for (size_t i = 0; i < given->use_count; i++)
    if (given->uses[i].option == option && index-- == 0)
      return given->uses[i].text;
  return NULL;
}

bool option_given(const struct options *given, const char *name) {
  return option_count(given, name) > 0;
}

const char *option_text(const struct options *given, const char *name) {
  size_t count = option_count(given, name);
  return count > 0 ? option_at(given, name, count - 1) : find_known(given, name)->initial;
}

bool option_integer(const struct options *given, const char *name, struct bounds bounds, int64_t *value,
                    struct error *error) {
  const char *text = option_text(given, name);
  if (text == NULL)
    return error_set(error, FAILURE_USAGE, "option --%s is missing", name);
  char *end;
  errno = 0;
  long long number = strtoll(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0' || number < bounds.least || number > bounds.most)
    return error_set(error, FAILURE_USAGE,
                     "option --%s must be a whole number from %" PRId64 " to %" PRId64 ", not \"%s\"", name,
                     bounds.least, bounds.most, text);
  *value = number;
  return true;
}

bool option_is_id(const char *text) {
  errno = 0;
  return *text != '\0' && text[strspn(text, "0123456789")] == '\0' && strtoll(text, NULL, 10) >= 0 && errno == 0;
}

/* Writes the left column, such as "-d, --dbname CONNINFO", and returns its width; NULL only measures. */
static int print_name(FILE *stream, const struct option *option) {
  char letter[] = "-x, ";
  letter[1] = option->letter;
  const char *open = option->implied != NULL ? "[" : "";
  const char *close = option->implied != NULL ? "]" : "";
  char text[128];
  snprintf(text, sizeof text, "%s--%s%s%s%s%s", option->letter != '\0' ? letter : "    ", option->name,
           option->value != NULL ? " " : "", open, option->value != NULL ? option->value : "", close);
  if (stream != NULL)
    fputs(text, stream);
  return (int)strlen(text);
}

void option_print_help(FILE *stream, const struct option *table) {
  int widest = 0;
  for (const struct option *option = table; option->name != NULL; option++) {
    int width = print_name(NULL, option);
    widest = width > widest ? width : widest;
  }
  for (const struct option *option = table; option->name != NULL; option++) {
    fputs("  ", stream);
    int width = print_name(stream, option);
    fprintf(stream, "%*s%s", widest - width + 2, "", option->help);
    if (option->initial != NULL)
      fprintf(stream, " (default %s)", option->initial);
    if (option->required)
      fputs(" (required)", stream);
    if (option->repeatable)
      fputs(" (may be repeated)", stream);
    fputc('\n', stream);
  }
}
