#include "doctor/table_names.h"

#include <string.h>

#include "cli/pattern.h"
#include "postgres/result.h"
#include "queries.h"

#define LONGEST_LIST ((size_t)16 * 1024 * 1024) /* bytes */

/* A pattern as regular expressions. */
struct names {
  struct buffer schema;
  struct buffer table;
  bool has_schema;
  bool wild;
};

static void add_letter(struct buffer *regex, char letter) {
  if (strchr("[]\\.*+?(){}|^$", letter) != NULL)
    buffer_add_string(regex, "\\");
  buffer_add(regex, &letter, 1);
}

/* As psql reads the argument of \d. */
static void read_pattern(const char *pattern, struct names *names) {
  bool quoted = false;
  for (const char *c = pattern; *c != '\0'; c++) {
    if (*c == '"') {
      if (!quoted && c > pattern && c[-1] == '"')
        add_letter(&names->table, '"'); /* within quotes, "" is one */
      quoted = !quoted;
    } else if (!quoted && (*c == '*' || *c == '?')) {
      buffer_add_string(&names->table, *c == '*' ? ".*" : ".");
      names->wild = true;
    } else if (!quoted && *c == '.' && !names->has_schema) {
      struct buffer schema = names->table;
      names->table = names->schema;
      names->schema = schema;
      names->has_schema = true;
    } else if (!quoted && *c >= 'A' && *c <= 'Z') {
      add_letter(&names->table, (char)(*c - 'A' + 'a'));
    } else {
      add_letter(&names->table, *c);
    }
  }
}

static void add_text(struct buffer *array, const char *text) {
  buffer_add_string(array, array->length == 0 ? "{" : ",");
  if (text != NULL)
    buffer_add_array_string(array, text);
  else
    buffer_add_string(array, "null");
}

enum { PATTERNS, SCHEMAS, TABLES, WILD, LISTS };

static void add_pattern(struct buffer *lists, const char *pattern) {
  struct names names = {.has_schema = false};
  buffer_init(&names.schema, LONGEST_LIST);
  buffer_init(&names.table, LONGEST_LIST);
  read_pattern(pattern, &names);
  const char *schema = names.schema.data != NULL ? names.schema.data : "";
  add_text(&lists[PATTERNS], pattern);
  add_text(&lists[SCHEMAS], names.has_schema ? schema : NULL);
  add_text(&lists[TABLES], names.table.data != NULL ? names.table.data : "");
  add_text(&lists[WILD], names.wild ? "t" : "f");
  for (int i = 0; i < LISTS; i++) {
    buffer_inherit(&lists[i], &names.schema);
    buffer_inherit(&lists[i], &names.table);
  }
  buffer_release(&names.schema);
  buffer_release(&names.table);
}

static bool add_oids(struct source *source, const PGresult *rows, struct buffer *oids, struct error *error) {
  for (int row = 0; row < PQntuples(rows); row++) {
    if (PQgetisnull(rows, row, PATTERN_OID))
      return pattern_fail(source, PATTERN_OF_TABLES.what, PQgetvalue(rows, row, PATTERN_PATTERN), error);
    add_text(oids, PQgetvalue(rows, row, PATTERN_OID));
  }
  if (oids->length == 0)
    buffer_add_string(oids, "{");
  buffer_add_string(oids, "}");
  return buffer_ok(oids, "the list of tables", error);
}

bool table_names_find(struct source *source, const char *const *patterns, size_t count, struct buffer *oids,
                      struct error *error) {
  struct buffer lists[LISTS];
  PGresult *rows = NULL;
  bool ok = true;
  for (int i = 0; i < LISTS; i++)
    buffer_init(&lists[i], LONGEST_LIST);
  for (size_t i = 0; i < count; i++)
    add_pattern(lists, patterns[i]);
  for (int i = 0; i < LISTS; i++) {
    buffer_add_string(&lists[i], count == 0 ? "{}" : "}");
    ok = ok && buffer_ok(&lists[i], "the list of patterns", error);
  }
  const struct query query = QUERY_ONCE(QUERY_doctor_tables_named);
  ok = ok &&
       source_run(source, &query,
                  VALUES(lists[PATTERNS].data, lists[SCHEMAS].data, lists[TABLES].data, lists[WILD].data), &rows,
                  error) &&
       add_oids(source, rows, oids, error);
  PQclear(rows);
  for (int i = 0; i < LISTS; i++)
    buffer_release(&lists[i]);
  return ok;
}
