#include "history/entry.h"

#include <string.h>

#include "common/json.h"
#include "postgres/result.h"
#include "queries.h"
#include "terminal/escape.h"

#define INDENT "    "
/* Columns of a line that one value may take. */
#define LONGEST_VALUE 40
#define ELLIPSIS "…"

enum colour { PLAIN, HEADING, REMOVED, ADDED, WORRYING, FAINT };

static const char *const COLOURS[] = {[PLAIN] = "\033[m",   [HEADING] = "\033[33m",    [REMOVED] = "\033[31m",
                                      [ADDED] = "\033[32m", [WORRYING] = "\033[1;31m", [FAINT] = "\033[2m"};

static void paint(struct buffer *buffer, const struct entry_style *style, enum colour colour) {
  if (style->colours)
    buffer_add_string(buffer, COLOURS[colour]);
}

/* ---- texts ----------------------------------------------------------------------------------------------------- */

int entry_add_within(struct buffer *buffer, const char *text, size_t length, int room) {
  int utf8 = pg_char_to_encoding("UTF8");
  int used = 0;
  while (length > 0) {
    size_t bytes = escape_length(text, length);
    bool control = escape_is_needed(text, bytes);
    int columns = control ? 6 : PQdsplen(text, utf8);
    columns = columns > 0 ? columns : 0;
    if (used + columns > room - (length > bytes)) {
      buffer_add_string(buffer, used < room ? ELLIPSIS : "");
      return used < room ? used + 1 : used;
    }
    if (control)
      used += escape_add(buffer, text, bytes);
    else
      buffer_add(buffer, text, bytes);
    used += control ? 0 : columns;
    text += bytes;
    length -= bytes;
  }
  return used;
}

#define ANY_WIDTH 0x3fffffff

static void add(struct buffer *buffer, const char *text, size_t length) {
  (void)entry_add_within(buffer, text, length, ANY_WIDTH);
}

static void add_text(struct buffer *buffer, const char *text) {
  add(buffer, text, strlen(text));
}

/* A column's name as SQL would have it, if that needs no quotes: JSON's are taken off, unless something is escaped. */
static void add_name(struct buffer *buffer, const struct json_member *member) {
  bool escaped = memchr(member->name, '\\', member->name_length) != NULL;
  add(buffer, member->name + !escaped, member->name_length - (escaped ? 0 : 2));
}

/* ---- what changed ---------------------------------------------------------------------------------------------- */

struct difference {
  const char *old_row; /* NULL: not known, or none */
  const char *new_row;
  const char *next;
};

static struct difference compare(const PGresult *rows, int row) {
  struct difference difference = {.old_row = result_text(rows, row, ENTRY_OLD),
                                  .new_row = result_text(rows, row, ENTRY_NEW)};
  difference.next = difference.new_row != NULL ? difference.new_row : difference.old_row;
  return difference;
}

static bool same_value(const struct json_member *one, const struct json_member *other) {
  return one->value_length == other->value_length && memcmp(one->value, other->value, one->value_length) == 0;
}

/*
 * The next column that differs, with what it was and what it is; either has no value where there is no such row. Of two
 * rows, a column that only one of them has was added or dropped in between, or not kept: nothing is known of it.
 */
static bool next_difference(struct difference *difference, struct json_member *old, struct json_member *new) {
  *old = *new = (struct json_member){.value = NULL};
  if (difference->next == NULL)
    return false;
  if (difference->new_row == NULL)
    return json_next(&difference->next, old);
  while (json_next(&difference->next, new))
    if (difference->old_row == NULL || (json_find(difference->old_row, new, old) && !same_value(old, new)))
      return true;
  return false;
}

/* Of an update without the row before, nobody knows what changed. */
static bool is_unknown(const PGresult *rows, int row) {
  const char *op = PQgetvalue(rows, row, ENTRY_OP);
  return strcmp(op, "update") == 0 && PQgetisnull(rows, row, ENTRY_OLD);
}

static void add_side(struct buffer *buffer, const struct entry_style *style, const char *sign, enum colour colour,
                     const struct json_member *member) {
  if (member->value == NULL)
    return;
  buffer_add_string(buffer, INDENT);
  if (colour != PLAIN)
    paint(buffer, style, colour);
  buffer_add_string(buffer, sign);
  add_name(buffer, member);
  buffer_add_string(buffer, ": ");
  add(buffer, member->value, member->value_length);
  if (colour != PLAIN)
    paint(buffer, style, PLAIN);
  buffer_add_string(buffer, "\n");
}

static void add_differences(struct buffer *buffer, const struct entry_style *style, const PGresult *rows, int row) {
  struct difference difference = compare(rows, row);
  struct json_member old;
  struct json_member new;
  bool unknown = is_unknown(rows, row);
  bool any = false;
  while (next_difference(&difference, &old, &new)) {
    if (!any)
      buffer_add_string(buffer, "\n");
    any = true;
    add_side(buffer, style, "-", REMOVED, &old);
    add_side(buffer, style, unknown ? " " : "+", unknown ? PLAIN : ADDED, &new);
  }
  if (!any && difference.old_row != NULL && difference.new_row != NULL)
    buffer_add_string(buffer, "\n" INDENT "(nothing is different)\n");
}

void entry_add_row(struct buffer *buffer, const char *object) {
  static const struct entry_style plain = {.colours = false};
  struct json_member member;
  while (json_next(&object, &member))
    add_side(buffer, &plain, "", PLAIN, &member);
}

/* ---- a paragraph ----------------------------------------------------------------------------------------------- */

static void add_field(struct buffer *buffer, const char *label, const PGresult *rows, int row, int column) {
  if (PQgetisnull(rows, row, column))
    return;
  buffer_add_format(buffer, "%-13s", label);
  add_text(buffer, PQgetvalue(rows, row, column));
  buffer_add_string(buffer, "\n");
}

static void add_heading(struct buffer *buffer, const struct entry_style *style, const PGresult *rows, int row) {
  paint(buffer, style, HEADING);
  buffer_add_format(buffer, "change %s", PQgetvalue(rows, row, ENTRY_ID));
  paint(buffer, style, PLAIN);
  for (int column = ENTRY_OP; column <= ENTRY_KEY; column++)
    if (!PQgetisnull(rows, row, column)) {
      buffer_add_string(buffer, " ");
      add_text(buffer, PQgetvalue(rows, row, column));
    }
  buffer_add_string(buffer, "\n");
}

static void add_actor(struct buffer *buffer, const PGresult *rows, int row) {
  const char *session = result_text(rows, row, ENTRY_SESSION);
  if (PQgetisnull(rows, row, ENTRY_ACTOR) && session == NULL)
    return;
  buffer_add_format(buffer, "%-13s", "Actor:");
  add_text(buffer, PQgetvalue(rows, row, ENTRY_ACTOR));
  if (session != NULL) {
    buffer_add_string(buffer, PQgetisnull(rows, row, ENTRY_ACTOR) ? "(" : " (");
    add_text(buffer, session);
    buffer_add_string(buffer, ")");
  }
  buffer_add_string(buffer, "\n");
}

/* Else the nulls would be taken for what the row had, and no difference for none. */
static void add_redacted(struct buffer *buffer, const PGresult *rows, int row) {
  if (PQgetisnull(rows, row, ENTRY_REDACTED))
    return;
  buffer_add_format(buffer, "%-13s", "Redacted:");
  add_text(buffer, PQgetvalue(rows, row, ENTRY_REDACTED));
  buffer_add_string(buffer, " (removed from the log and shown as null)\n");
}

/* One line: name, status and the rest, parted by tabs. */
static void add_delivery(struct buffer *buffer, const struct entry_style *style, const char *line, size_t length) {
  const char *status = memchr(line, '\t', length);
  if (status == NULL)
    return;
  size_t name_length = (size_t)(status - line);
  status++;
  size_t status_length = strcspn(status, "\t\n");
  const char *rest = status + status_length;
  buffer_add_string(buffer, "To ");
  int used = entry_add_within(buffer, line, name_length, ANY_WIDTH);
  buffer_add_format(buffer, ":%*s", used < 9 ? 9 - used : 1, "");
  bool bad = strncmp(status, "error", status_length) == 0;
  if (bad)
    paint(buffer, style, WORRYING);
  add(buffer, status, status_length);
  if (bad)
    paint(buffer, style, PLAIN);
  if (rest + 1 < line + length) {
    buffer_add_string(buffer, " ");
    add(buffer, rest + 1, (size_t)(line + length - rest - 1));
  }
  buffer_add_string(buffer, "\n");
}

static void add_deliveries(struct buffer *buffer, const struct entry_style *style, const char *lines) {
  while (lines != NULL && *lines != '\0') {
    size_t length = strcspn(lines, "\n");
    add_delivery(buffer, style, lines, length);
    lines += length + (lines[length] == '\n');
  }
}

void entry_add_paragraph(struct buffer *buffer, const struct entry_style *style, const PGresult *rows, int row) {
  add_heading(buffer, style, rows, row);
  add_actor(buffer, rows, row);
  add_field(buffer, "Date:", rows, row, ENTRY_AT);
  add_field(buffer, "Transaction:", rows, row, ENTRY_TXID);
  add_deliveries(buffer, style, result_text(rows, row, ENTRY_DELIVERIES));
  add_field(buffer, "Problem:", rows, row, ENTRY_PROBLEM);
  add_redacted(buffer, rows, row);
  add_differences(buffer, style, rows, row);
}

/* ---- a line ---------------------------------------------------------------------------------------------------- */

/* A line that knows how much room is left in it. */
struct line {
  struct buffer *buffer;
  const struct entry_style *style;
  int room;
};

static void put(struct line *line, enum colour colour, const char *text, size_t length, int room) {
  if (line->room <= 0)
    return;
  if (colour != PLAIN)
    paint(line->buffer, line->style, colour);
  line->room -= entry_add_within(line->buffer, text, length, room < line->room ? room : line->room);
  if (colour != PLAIN)
    paint(line->buffer, line->style, PLAIN);
}

static void put_text(struct line *line, enum colour colour, const char *text) {
  put(line, colour, text, strlen(text), ANY_WIDTH);
}

static void put_member(struct line *line, const struct json_member *old, const struct json_member *new, bool first) {
  const struct json_member *named = new->value != NULL ? new : old;
  bool escaped = memchr(named->name, '\\', named->name_length) != NULL;
  put_text(line, PLAIN, first ? "  " : ", ");
  put(line, PLAIN, named->name + !escaped, named->name_length - (escaped ? 0 : 2), ANY_WIDTH);
  put_text(line, PLAIN, ": ");
  if (old->value != NULL)
    put(line, REMOVED, old->value, old->value_length, LONGEST_VALUE);
  if (old->value != NULL && new->value != NULL)
    put_text(line, PLAIN, " -> ");
  if (new->value != NULL)
    put(line, ADDED, new->value, new->value_length, LONGEST_VALUE);
}

void entry_add_line(struct buffer *buffer, const struct entry_style *style, const PGresult *rows, int row) {
  struct line line = {.buffer = buffer, .style = style, .room = style->width > 0 ? style->width : ANY_WIDTH};
  struct difference difference = compare(rows, row);
  struct json_member old;
  struct json_member new;
  put_text(&line, HEADING, PQgetvalue(rows, row, ENTRY_ID));
  for (int column = ENTRY_AT; column <= ENTRY_ACTOR; column++)
    if (!PQgetisnull(rows, row, column)) {
      put_text(&line, PLAIN, " ");
      put_text(&line, column == ENTRY_AT ? FAINT : PLAIN, PQgetvalue(rows, row, column));
    }
  if (!PQgetisnull(rows, row, ENTRY_REDACTED)) {
    put_text(&line, WORRYING, " (redacted: ");
    put_text(&line, WORRYING, PQgetvalue(rows, row, ENTRY_REDACTED));
    put_text(&line, WORRYING, ")");
  }
  bool first = true;
  while (line.room > 0 && next_difference(&difference, &old, &new)) {
    put_member(&line, &old, &new, first);
    first = false;
  }
  buffer_add_string(buffer, "\n");
}
