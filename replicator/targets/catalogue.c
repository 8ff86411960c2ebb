#include "targets/catalogue.h"

#include <string.h>

/* An upper bound on the number of tables. */
#define MOST_TABLES 64
#define WIDEST_URL 43

/* ---- which options there are, and whose they are ------------------------------------------------------------------
 */

/* The different tables of options, in the order in which kinds name them; those of every kind are first. */
struct tables {
  const struct target_option *table[MOST_TABLES];
  size_t count;
};

static void add_table(struct tables *tables, const struct target_option *table) {
  for (size_t i = 0; i < tables->count; i++)
    if (tables->table[i] == table)
      return;
  if (tables->count < MOST_TABLES)
    tables->table[tables->count++] = table;
}

static struct tables find_tables(const struct target_kind *const *kinds) {
  struct tables tables = {.count = 0};
  add_table(&tables, TARGET_COMMON_OPTIONS);
  for (; *kinds != NULL; kinds++)
    for (const struct target_option *const *table = (*kinds)->options; *table != NULL; table++)
      add_table(&tables, *table);
  return tables;
}

static bool has_table(const struct target_kind *kind, const struct target_option *table) {
  for (const struct target_option *const *known = kind->options; *known != NULL; known++)
    if (*known == table)
      return true;
  return false;
}

/* The names of the kinds that have a table, with `between` between them and `last` before the last one. */
static void add_owners(struct buffer *text, const struct target_kind *const *kinds, const struct target_option *table,
                       const char *between, const char *last) {
  size_t left = 0;
  for (const struct target_kind *const *kind = kinds; *kind != NULL; kind++)
    left += has_table(*kind, table);
  for (const struct target_kind *const *kind = kinds; *kind != NULL; kind++)
    if (has_table(*kind, table)) {
      left--;
      buffer_add_string(text, (*kind)->name);
      buffer_add_string(text, left == 1 ? last : left > 1 ? between : "");
    }
}

static bool is_common(const struct target_option *table) {
  return table == TARGET_COMMON_OPTIONS;
}

/* ---- for the schema -----------------------------------------------------------------------------------------------
 */

/* As a literal that means the same under any standard_conforming_strings. */
static void add_literal(struct buffer *text, const char *value) {
  if (value == NULL) {
    buffer_add_string(text, "null");
    return;
  }
  buffer_add_string(text, strchr(value, '\\') != NULL ? "E'" : "'");
  for (; *value != '\0'; value++) {
    if (*value == '\\' || *value == '\'')
      buffer_add(text, value, 1);
    buffer_add(text, value, 1);
  }
  buffer_add_string(text, "'");
}

/* Rows of `values` may be of different types as long as one of them is named. */
static void add_typed(struct buffer *text, const char *value, const char *type) {
  add_literal(text, value);
  buffer_add_format(text, "::%s", type);
}

static void add_schemes(struct buffer *text, const struct target_url *urls) {
  buffer_add_string(text, "'{");
  for (const struct target_url *url = urls; url->scheme != NULL; url++)
    buffer_add_format(text, "%s%s", url != urls ? "," : "", url->scheme);
  buffer_add_string(text, "}'::text[],\n     '{");
  const char *between = "";
  for (const struct target_url *url = urls; url->scheme != NULL; url++)
    if (url->example != NULL) {
      buffer_add_format(text, "%s%s", between, url->scheme);
      between = ",";
    }
  buffer_add_string(text, "}'::text[]");
}

static const char *initial_of(const struct target_kind *kind, const struct target_option *option) {
  return kind->batch_rows != NULL && strcmp(option->name, "batch_rows") == 0 ? kind->batch_rows : option->initial;
}

static void add_defaults(struct buffer *text, const struct target_kind *kind, const struct target_option *table,
                         size_t *count) {
  for (const struct target_option *option = table; option->name != NULL; option++)
    if (option->initial != NULL) {
      if (*count > 0)
        buffer_add_string(text, *count % 4 == 0 ? ",\n       " : ", ");
      (*count)++;
      buffer_add_json_string(text, option->name);
      buffer_add_string(text, ": ");
      buffer_add_json_string(text, initial_of(kind, option));
    }
}

static void add_kind_defaults(struct buffer *text, const struct target_kind *kind) {
  struct buffer object;
  size_t count = 0;
  buffer_init(&object, text->limit);
  buffer_add_string(&object, "{");
  add_defaults(&object, kind, TARGET_COMMON_OPTIONS, &count);
  for (const struct target_option *const *table = kind->options; *table != NULL; table++)
    add_defaults(&object, kind, *table, &count);
  buffer_add_string(&object, "}");
  add_typed(text, object.data, "jsonb");
  buffer_release(&object);
}

static void add_rules(struct buffer *text, const struct target_url_rule *rules) {
  struct buffer list;
  buffer_init(&list, text->limit);
  buffer_add_string(&list, "[");
  for (const struct target_url_rule *rule = rules; rule != NULL && rule->pattern != NULL; rule++) {
    buffer_add_string(&list, rule != rules ? ",\n      {\"pattern\": " : "{\"pattern\": ");
    buffer_add_json_string(&list, rule->pattern);
    buffer_add_string(&list,
                      rule->forbidden ? ", \"forbidden\": true,\n       \"problem\": " : ",\n       \"problem\": ");
    buffer_add_json_string(&list, rule->problem);
    buffer_add_string(&list, ",\n       \"hint\": ");
    buffer_add_json_string(&list, rule->hint);
    buffer_add_string(&list, "}");
  }
  buffer_add_string(&list, "]");
  add_typed(text, list.data, "jsonb");
  buffer_release(&list);
}

void catalogue_add_sql_kinds(struct buffer *text, const struct target_kind *const *kinds) {
  buffer_add_string(
      text, "-- Generated by `make options` from replicator/targets/; do not edit.\n"
            "-- Purpose:    lists the kinds of targets\n"
            "-- Result:     for each: place in lists, name, URL schemes, those of them that hints name, whether "
            "its URL is "
            "a path,\n"
            "--             whether it keeps current rows (unless mode is append), whether rows with the same key "
            "overwrite each\n"
            "--             other, defaults of its options, and rules for its URLs\n"
            "create or replace function rowrelay.target_kinds(out place integer, out name text, out schemes text[],\n"
            "  out shown_schemes text[], out is_path boolean, out keeps_state boolean, out overwrites boolean,\n"
            "  out defaults jsonb, out url_rules jsonb) returns setof record\n"
            "language sql immutable as $table$\n"
            "  values\n");
  for (size_t i = 0; kinds[i] != NULL; i++) {
    buffer_add_format(text, "    (%zu, ", i + 1);
    add_typed(text, kinds[i]->name, "text");
    buffer_add_string(text, ", ");
    add_schemes(text, kinds[i]->urls);
    buffer_add_format(text, ",\n     %s, %s, %s,\n     ", kinds[i]->is_path ? "true" : "false",
                      kinds[i]->keeps_state ? "true" : "false", kinds[i]->overwrites ? "true" : "false");
    add_kind_defaults(text, kinds[i]);
    buffer_add_string(text, ",\n     ");
    add_rules(text, kinds[i]->url_rules);
    buffer_add_string(text, kinds[i + 1] != NULL ? "),\n" : ")\n");
  }
  buffer_add_string(text, "$table$;\n");
}

static void add_sql_option(struct buffer *text, const struct target_kind *const *kinds,
                           const struct target_option *table, const struct target_option *option) {
  struct buffer words;
  buffer_init(&words, text->limit);
  buffer_add_string(text, "    (");
  add_typed(text, option->name, "text");
  if (is_common(table)) {
    buffer_add_string(text, ", null::text[]");
  } else {
    buffer_add_string(text, ",\n     '{");
    add_owners(text, kinds, table, ",", ",");
    buffer_add_string(text, "}'::text[]");
  }
  if (option->number != NULL)
    buffer_add_format(text, ", %lld::bigint, %lld::bigint, ", (long long)option->least, (long long)option->most);
  else
    buffer_add_string(text, ", null::bigint, null::bigint, ");
  buffer_add_format(text, "%s, %s,\n     ", option->secret ? "true" : "false", option->elsewhere ? "true" : "false");
  target_option_add_pattern(&words, option);
  add_typed(text, words.data, "text");
  buffer_clear(&words);
  target_option_add_words(&words, option);
  buffer_add_string(text, ",\n     ");
  add_typed(text, words.data, "text");
  buffer_add_string(text, ")");
  buffer_release(&words);
}

void catalogue_add_sql_options(struct buffer *text, const struct target_kind *const *kinds) {
  buffer_add_string(
      text,
      "-- Generated by `make options` from replicator/targets/; do not edit.\n"
      "-- Purpose:    lists the options of targets\n"
      "-- Result:     for each: name, the kinds that have it (null: all), bounds of a number, whether its value "
      "is secret,\n"
      "--             whether it does not apply to the source as its own target, pattern of its values, and that in "
      "words\n"
      "create or replace function rowrelay.target_options(out name text, out kinds text[], out lowest bigint,\n"
      "  out highest bigint, out is_secret boolean, out elsewhere boolean, out pattern text,\n"
      "  out words text) returns setof record\n"
      "language sql immutable as $table$\n"
      "  values\n");
  struct tables tables = find_tables(kinds);
  const char *between = "";
  for (size_t i = 0; i < tables.count; i++)
    for (const struct target_option *option = tables.table[i]; option->name != NULL; option++) {
      buffer_add_string(text, between);
      add_sql_option(text, kinds, tables.table[i], option);
      between = ",\n";
    }
  buffer_add_string(text, "\n$table$;\n");
}

/* ---- for people ---------------------------------------------------------------------------------------------------
 */

static void add_cell(struct buffer *text, const char *value) {
  for (; *value != '\0'; value++) {
    if (*value == '|')
      buffer_add_string(text, "\\");
    buffer_add(text, value, 1);
  }
}

void catalogue_add_markdown(struct buffer *text, const struct target_kind *const *kinds) {
  buffer_add_string(text, "| URL | kind | what it is |\n|---|---|---|\n");
  for (const struct target_kind *const *kind = kinds; *kind != NULL; kind++)
    for (const struct target_url *url = (*kind)->urls; url->scheme != NULL; url++)
      if (url->example != NULL)
        buffer_add_format(text, "| `%s` | %s | %s |\n", url->example, (*kind)->name, url->help);
  buffer_add_string(text, "\n| option | of | purpose | value | default |\n|---|---|---|---|---|\n");
  struct tables tables = find_tables(kinds);
  for (size_t i = 0; i < tables.count; i++)
    for (const struct target_option *option = tables.table[i]; option->name != NULL; option++) {
      struct buffer words;
      buffer_init(&words, text->limit);
      target_option_add_words(&words, option);
      buffer_add_format(text, "| `%s` | ", option->name);
      if (is_common(tables.table[i]))
        buffer_add_string(text, "all");
      else
        add_owners(text, kinds, tables.table[i], ", ", ", ");
      buffer_add_string(text, " | ");
      add_cell(text, option->help);
      buffer_add_string(text, " | ");
      add_cell(text, words.data);
      buffer_add_format(text, " | %s |\n", option->initial != NULL ? option->initial : "");
      buffer_release(&words);
    }
}

void catalogue_add_urls(struct buffer *text, const struct target_kind *const *kinds) {
  for (const struct target_kind *const *kind = kinds; *kind != NULL; kind++)
    for (const struct target_url *url = (*kind)->urls; url->scheme != NULL; url++)
      if (url->example != NULL)
        buffer_add_format(text, "  %-*s  %s\n", WIDEST_URL, url->example, url->help);
}

static void add_option_line(struct buffer *text, const struct target_option *option) {
  buffer_add_format(text, "  %-16s  %s\n  %-16s  ", option->name, option->help, "");
  target_option_add_words(text, option);
  if (option->initial != NULL)
    buffer_add_format(text, " (default %s)", option->initial);
  buffer_add_string(text, "\n");
}

void catalogue_add_options(struct buffer *text, const struct target_kind *const *kinds) {
  struct tables tables = find_tables(kinds);
  for (size_t i = 0; i < tables.count; i++) {
    if (is_common(tables.table[i])) {
      buffer_add_string(text, "Options of every target:\n");
    } else {
      buffer_add_string(text, "\nMore options of ");
      add_owners(text, kinds, tables.table[i], ", ", " and ");
      buffer_add_string(text, " targets:\n");
    }
    for (const struct target_option *option = tables.table[i]; option->name != NULL; option++)
      add_option_line(text, option);
  }
}

/* ---- for shells ---------------------------------------------------------------------------------------------------
 */

void catalogue_add_url_words(struct buffer *text, const struct target_kind *const *kinds) {
  for (const struct target_kind *const *kind = kinds; *kind != NULL; kind++)
    for (const struct target_url *url = (*kind)->urls; url->scheme != NULL; url++)
      buffer_add_format(text, " %s:", url->scheme);
}

static void add_option_words(struct buffer *text, const struct target_option *option) {
  buffer_add_format(text, " %s=", option->name);
  for (const char *choice = option->choices; choice != NULL && *choice != '\0';) {
    size_t length = strcspn(choice, "|");
    buffer_add_format(text, " %s=%.*s", option->name, (int)length, choice);
    choice += length + (choice[length] == '|');
  }
}

void catalogue_add_option_words(struct buffer *text, const struct target_kind *const *kinds,
                                const struct target_kind *kind) {
  struct tables tables = find_tables(kinds);
  for (size_t i = 0; i < tables.count; i++)
    if (kind == NULL || is_common(tables.table[i]) || has_table(kind, tables.table[i]))
      for (const struct target_option *option = tables.table[i]; option->name != NULL; option++)
        add_option_words(text, option);
}
