#include "cli/names.h"

#include <string.h>

#include "cli/option.h"
#include "queries.h"
#include "source/source.h"

#define TIMEOUT 2000 /* milliseconds; somebody waits with a finger on the key */

enum kind { KIND_NONE, KIND_TABLE, KIND_TARGET, KIND_DOCUMENT };

static enum kind kind_of_option(const struct option *option) {
  if (option->value == NULL)
    return KIND_NONE;
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

/* What comes next. */
struct place {
  enum kind kind;
  bool captured_only;
  const char *dbname; /* as given in the words; NULL: not */
};

static void note_value(struct place *place, const struct option *option, const char *value) {
  if (strcmp(option->name, "dbname") == 0)
    place->dbname = value;
}

static bool takes_next(const struct option *option, const char *value) {
  return option != NULL && option->value != NULL && option->implied == NULL && value == NULL;
}

/* bash gives a `=` as a word of its own. */
static struct place find_place(size_t count, const char *const *words) {
  struct place place = {.kind = KIND_NONE};
  const struct command *command = NULL;
  const struct option *pending = NULL;
  size_t arguments = 0;
  for (size_t i = 0; i < count; i++) {
    const char *value = NULL;
    if (strcmp(words[i], "=") == 0)
      continue;
    if (pending != NULL) {
      note_value(&place, pending, words[i]);
      pending = NULL;
    } else if (words[i][0] == '-' && words[i][1] != '\0') {
      const struct option *option = command != NULL ? find(command->options, words[i], &value) : NULL;
      if (option == NULL)
        option = find(SHARED_OPTIONS, words[i], &value);
      pending = takes_next(option, value) ? option : NULL;
      if (option != NULL && value != NULL)
        note_value(&place, option, value);
    } else if (command == NULL) {
      size_t used;
      struct error ignored;
      if (!command_find(count - i, words + i, &command, &used, &ignored))
        return place;
      i += used - 1;
    } else {
      arguments++;
    }
  }
  if (pending != NULL)
    place.kind = kind_of_option(pending);
  else if (command != NULL)
    place.kind = kind_of_argument(command, arguments);
  place.captured_only =
      command != NULL && strcmp(command->name, "capture") != 0 && strcmp(command->name, "doctor") != 0;
  return place;
}

void names_print(FILE *stream, size_t count, const char *const *words, const char *prefix) {
  struct place place = find_place(count, words);
  const struct query *query = place.kind == KIND_TABLE
                                  ? place.captured_only ? &QUERY_names_captured : &QUERY_names_tables
                              : place.kind == KIND_TARGET   ? &QUERY_names_targets
                              : place.kind == KIND_DOCUMENT ? &QUERY_names_documents
                                                            : NULL;
  struct source *source;
  struct error ignored;
  if (query == NULL || !source_open_within(&source, place.dbname, TIMEOUT, &ignored))
    return;
  PGresult *reply = NULL;
  const struct query once = QUERY_ONCE(*query);
  pgconn_set_deadline(source_connection(source), TIMEOUT);
  if (source_run(source, &once, VALUES(prefix), &reply, &ignored))
    for (int row = 0; row < PQntuples(reply); row++)
      fprintf(stream, "%s\n", PQgetvalue(reply, row, 0));
  PQclear(reply);
  source_close(source);
}
