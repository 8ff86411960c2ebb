#include "cli/names.h"

#include <stdlib.h>
#include <string.h>

#include "cli/option.h"
#include "queries.h"
#include "source/source.h"

#define OFFER_LIMIT ((size_t)16 * 1024)
#define TIMEOUT 2000 /* milliseconds; somebody waits with a finger on the key */

enum kind { KIND_NONE, KIND_TABLE, KIND_TARGET, KIND_DOCUMENT, KIND_URL, KIND_VALUE };

/* "row|statement"; NULL: they are not known, or too many. */
static const char *choices_of(const struct option *option) {
  return option->choices != NULL                                       ? option->choices
         : option->value != NULL && strchr(option->value, '|') != NULL ? option->value
                                                                       : NULL;
}

static enum kind kind_of_option(const struct option *option) {
  if (option->value == NULL)
    return KIND_NONE;
  if (option->offer != NULL || choices_of(option) != NULL)
    return KIND_VALUE;
  if (strcmp(option->value, "TABLE") == 0)
    return KIND_TABLE;
  if (strcmp(option->value, "TARGET") == 0)
    return KIND_TARGET;
  return strcmp(option->name, "document") == 0 ? KIND_DOCUMENT : KIND_NONE;
}

static bool is_of_group(const struct command *command, const char *group) {
  return strncmp(command->name, group, strlen(group)) == 0;
}

/* Of what is there already: whoever adds something gives it a name that is new. */
static enum kind kind_of_word(const struct command *command, const char *word, size_t length) {
  word += strspn(word, "[");
  length = strcspn(word, " ].") < length ? strcspn(word, " ].") : length;
  if (length == 5 && strncmp(word, "TABLE", length) == 0)
    return KIND_TABLE;
  if (length == 6 && strncmp(word, "TARGET", length) == 0)
    return KIND_TARGET;
  if (length == 3 && strncmp(word, "URL", length) == 0 && command->offer != NULL)
    return KIND_URL;
  if (length != 4 || strncmp(word, "NAME", length) != 0 || strstr(command->name, " add") != NULL)
    return KIND_NONE;
  return is_of_group(command, "target ") ? KIND_TARGET : is_of_group(command, "document ") ? KIND_DOCUMENT : KIND_NONE;
}

/* The kind of the index-th argument, from how the help shows them: "TARGET [TABLE]...". */
static enum kind kind_of_argument(const struct command *command, size_t index) {
  const char *word = command->arguments;
  if (index >= command->most || *word == '\0')
    return KIND_NONE;
  for (; index > 0 && word[strcspn(word, " ")] == ' '; index--)
    word += strcspn(word, " ") + 1;
  size_t length = strcspn(word, " ");
  if (index > 0 && strstr(word, "...") == NULL)
    return KIND_NONE;
  return kind_of_word(command, word, length);
}

bool names_has_option(const struct option *option) {
  return kind_of_option(option) != KIND_NONE;
}

bool names_has_arguments(const struct command *command) {
  for (size_t i = 0; i < 4; i++)
    if (kind_of_argument(command, i) != KIND_NONE)
      return true;
  return false;
}

/* The option that a word names, `*value` being what stands behind a `=` in it; NULL: none. */
static const struct option *find(const struct option *table, const char *word, const char **value) {
  for (const struct option *option = table; option->name != NULL; option++) {
    size_t length = strlen(option->name);
    *value = NULL;
    if (word[1] == '-' && strncmp(word + 2, option->name, length) == 0 &&
        (word[2 + length] == '\0' || word[2 + length] == '=')) {
      *value = word[2 + length] == '=' ? word + 3 + length : NULL;
      return option;
    }
    if (word[1] == option->letter && option->letter != '\0') {
      *value = word[2] != '\0' ? word + 2 : NULL;
      return option;
    }
  }
  return NULL;
}

/* ---- the line -------------------------------------------------------------------------------------------------- */

/* Words as a person typed them; the last is not ended. */
struct line {
  char **words;
  size_t count;
};

static void line_release(struct line *line) {
  for (size_t i = 0; i < line->count; i++)
    free(line->words[i]);
  free(line->words);
}

static bool line_add(struct line *line, const char *text, bool joins) {
  size_t before = joins ? strlen(line->words[line->count - 1]) : 0;
  char *word = realloc(joins ? line->words[line->count - 1] : NULL, before + strlen(text) + 1);
  if (word == NULL)
    return false;
  memcpy(word + before, text, strlen(text) + 1);
  line->count += joins ? 0 : 1;
  line->words[line->count - 1] = word;
  return true;
}

static bool is_separator(const char *word) {
  return strcmp(word, "=") == 0 || strcmp(word, ":") == 0;
}

/* bash takes words apart at each = and :, which are put together again. */
static bool line_read(struct line *line, size_t count, const char *const *words, const char *prefix) {
  *line = (struct line){.words = calloc(count + 1, sizeof *line->words)};
  bool ok = line->words != NULL;
  for (size_t i = 0; ok && i <= count; i++) {
    bool joins = i > 0 && line->count > 0 && (is_separator(words[i - 1]) || (i < count && is_separator(words[i])));
    ok = line_add(line, i < count ? words[i] : prefix, joins);
  }
  return ok;
}

/* ---- what comes next ------------------------------------------------------------------------------------------- */

struct place {
  enum kind kind;
  const struct command *command; /* NULL: none yet */
  const struct option *option;   /* whose value comes next; NULL: an argument does */
  const char **arguments;        /* before it; as many as the line has words, at most */
  size_t argument_count;
  const char *prefix; /* what it begins with */
  const char *dbname; /* as given in the words; NULL: not */
};

static void note_value(struct place *place, const struct option *option, const char *value) {
  if (strcmp(option->name, "dbname") == 0)
    place->dbname = value;
}

static bool takes_next(const struct option *option, const char *value) {
  return option != NULL && option->value != NULL && option->implied == NULL && value == NULL;
}

static const struct option *find_option(const struct place *place, const char *word, const char **value) {
  const struct option *option = place->command != NULL ? find(place->command->options, word, value) : NULL;
  return option != NULL ? option : find(SHARED_OPTIONS, word, value);
}

static void pass_option(struct place *place, const char *word) {
  const char *value = NULL;
  const struct option *option = find_option(place, word, &value);
  place->option = takes_next(option, value) ? option : NULL;
  if (option != NULL && value != NULL)
    note_value(place, option, value);
}

static bool pass_words(struct place *place, const struct line *line) {
  for (size_t i = 0; i + 1 < line->count; i++) {
    const char *word = line->words[i];
    if (place->option != NULL) {
      note_value(place, place->option, word);
      place->option = NULL;
    } else if (word[0] == '-' && word[1] != '\0') {
      pass_option(place, word);
    } else if (place->command == NULL) {
      size_t used;
      struct error ignored;
      const char *const *words = (const char *const *)line->words + i;
      if (!command_find(line->count - 1 - i, words, &place->command, &used, &ignored))
        return false;
      i += used - 1;
    } else {
      place->arguments[place->argument_count++] = word;
    }
  }
  return true;
}

static void find_place(struct place *place, const struct line *line) {
  place->prefix = line->words[line->count - 1];
  if (!pass_words(place, line))
    return;
  if (place->option == NULL && strncmp(place->prefix, "--", 2) == 0 && strchr(place->prefix, '=') != NULL) {
    const char *value = NULL;
    place->option = find_option(place, place->prefix, &value);
    place->prefix = value != NULL ? value : "";
    place->kind = place->option != NULL ? kind_of_option(place->option) : KIND_NONE;
  } else if (place->option != NULL)
    place->kind = kind_of_option(place->option);
  else if (place->command != NULL)
    place->kind = kind_of_argument(place->command, place->argument_count);
}

/* ---- what it can be -------------------------------------------------------------------------------------------- */

/* A word that fits, without what stands in the line already as a word of its own. */
static void print_word(FILE *stream, const char *word, size_t length, size_t begun) {
  if (length > begun)
    fprintf(stream, "%.*s\n", (int)(length - begun), word + begun);
}

/* Of NAME=VALUE first all names, then the values of one. */
static bool is_next(const char *word, size_t length, const char *prefix) {
  size_t begun = strlen(prefix);
  if (length <= begun || strncmp(word, prefix, begun) != 0)
    return false;
  const char *equals = memchr(word + begun, '=', length - begun);
  return equals == NULL || equals == word + length - 1;
}

static void print_offered(FILE *stream, const struct place *place, size_t begun) {
  const char *choices = place->option != NULL ? choices_of(place->option) : NULL;
  struct typed typed = {.arguments = place->arguments, .count = place->argument_count};
  struct buffer words;
  buffer_init(&words, OFFER_LIMIT);
  if (place->option == NULL)
    place->command->offer(&words, &typed);
  else if (place->option->offer != NULL)
    place->option->offer(&words, &typed);
  else
    buffer_add_string(&words, choices != NULL ? choices : "");
  for (const char *word = words.data; word != NULL && *word != '\0';) {
    size_t length = strcspn(word, " |");
    if (is_next(word, length, place->prefix))
      print_word(stream, word, length, begun);
    word += length + (word[length] != '\0');
  }
  buffer_release(&words);
}

static const struct query *query_of(const struct place *place) {
  const char *name = place->command != NULL ? place->command->name : "";
  bool captured_only = strcmp(name, "capture") != 0 && strcmp(name, "doctor") != 0;
  return place->kind == KIND_TABLE      ? captured_only ? &QUERY_names_captured : &QUERY_names_tables
         : place->kind == KIND_TARGET   ? &QUERY_names_targets
         : place->kind == KIND_DOCUMENT ? &QUERY_names_documents
                                        : NULL;
}

static void print_names(FILE *stream, const struct place *place, size_t begun) {
  struct source *source;
  struct error ignored;
  const struct query *query = query_of(place);
  if (query == NULL || !source_open_within(&source, place->dbname, TIMEOUT, &ignored))
    return;
  PGresult *reply = NULL;
  const struct query once = QUERY_ONCE(*query);
  pgconn_set_deadline(source_connection(source), TIMEOUT);
  if (source_run(source, &once, VALUES(place->prefix), &reply, &ignored))
    for (int row = 0; row < PQntuples(reply); row++)
      print_word(stream, PQgetvalue(reply, row, 0), strlen(PQgetvalue(reply, row, 0)), begun);
  PQclear(reply);
  source_close(source);
}

void names_print(FILE *stream, size_t count, const char *const *words, const char *prefix) {
  struct line line;
  struct place place = {.kind = KIND_NONE};
  bool ok = line_read(&line, count, words, prefix);
  place.arguments = calloc(count + 1, sizeof *place.arguments);
  if (ok && place.arguments != NULL) {
    find_place(&place, &line);
    size_t behind = strlen(place.prefix);
    size_t begun = behind > strlen(prefix) ? behind - strlen(prefix) : 0;
    if (place.kind == KIND_VALUE || place.kind == KIND_URL)
      print_offered(stream, &place, begun);
    else
      print_names(stream, &place, begun);
  }
  free(place.arguments);
  line_release(&line);
}
