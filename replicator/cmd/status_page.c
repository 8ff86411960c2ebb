#include "cmd/status_page.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "history/entry.h"
#include "postgres/result.h"
#include "queries.h"
#include "terminal/progress.h"

#define GAP 2
#define NARROWEST_TARGET 8
#define MOST_NOTE_LINES 3
#define MOST_BACKLOG 1000000 /* the view counts no further */
#define SECONDS_OF_A_DAY 86400
#define CELL_SIZE 64

#define PLAIN "\033[0m"
#define BOLD "\033[1m"
#define DIM "\033[2m"
#define RED "\033[31m"
#define GREEN "\033[32m"
#define YELLOW "\033[33m"

/* A page being filled. */
struct sheet {
  struct buffer *page;
  const struct status_page_view *view;
  int left; /* lines that still fit */
};

static void style(const struct sheet *sheet, const char *sequence) {
  if (sheet->view->colours)
    buffer_add_string(sheet->page, sequence);
}

static void end_line(struct sheet *sheet) {
  buffer_add_string(sheet->page, "\n");
  sheet->left--;
}

/* A whole line of text, cut to the width. */
static void add_line(struct sheet *sheet, const char *sequence, const char *text, size_t length, int indent) {
  style(sheet, sequence);
  buffer_add_format(sheet->page, "%*s", indent, "");
  entry_add_within(sheet->page, text, length, sheet->view->columns - indent);
  style(sheet, PLAIN);
  end_line(sheet);
}

/* How many bytes of a text fit into a line: up to the last space. */
static size_t line_length(const char *text, size_t room) {
  size_t length = strlen(text);
  if (length <= room)
    return length;
  for (size_t i = room; i > room / 2; i--)
    if (text[i] == ' ')
      return i;
  while (room > 1 && ((unsigned char)text[room] & 0xc0) == 0x80) /* not within a character */
    room--;
  return room;
}

/* A text in several lines, the last of them cut. */
static void add_lines(struct sheet *sheet, const char *sequence, const char *text, int indent, int most) {
  size_t room = (size_t)(sheet->view->columns - indent > 1 ? sheet->view->columns - indent : 1);
  while (*text != '\0' && sheet->left > 0 && most > 0) {
    size_t length = most == 1 ? strlen(text) : line_length(text, room);
    add_line(sheet, sequence, text, length, indent);
    text += length;
    text += strspn(text, " ");
    most--;
  }
}

/* ---- cells ----------------------------------------------------------------------------------------------------- */

/* "12,345", or "1,000,000+" where the view stopped counting. */
static void format_backlog(char text[CELL_SIZE], int64_t backlog, bool more) {
  char number[PROGRESS_NUMBER_SIZE];
  snprintf(text, CELL_SIZE, "%s%s", progress_number(number, backlog), more ? "+" : "");
}

/* "00:01:07", or "3d 04h". */
static void format_age(char text[CELL_SIZE], int64_t seconds) {
  if (seconds < SECONDS_OF_A_DAY)
    snprintf(text, CELL_SIZE, "%02d:%02d:%02d", (int)(seconds / 3600), (int)(seconds / 60 % 60), (int)(seconds % 60));
  else
    snprintf(text, CELL_SIZE, "%" PRId64 "d %02dh", seconds / SECONDS_OF_A_DAY,
             (int)(seconds % SECONDS_OF_A_DAY / 3600));
}

/* Columns beside the target's name; where there is no room, those of the least weight are left out first. */
static const struct column {
  const char *title;
  int field;
  int width;
  bool right;
  int weight;
} COLUMNS[] = {
    {"STATE", LIVE_STATE, 11, false, 6}, {"BACKLOG", LIVE_BACKLOG, 10, true, 5}, {"OLDEST", LIVE_OLDEST, 8, true, 4},
    {"RATE/S", LIVE_RATE, 9, true, 2},   {"ERRORS", LIVE_ERRORS, 7, true, 3},    {"BLOCKED", LIVE_BLOCKED, 7, true, 1},
};
#define COLUMN_COUNT (sizeof COLUMNS / sizeof COLUMNS[0])

/* The least weight of a column that is shown, and how wide targets' names then are. */
struct layout {
  int weight;
  int target;
};

static int width_from(int weight) {
  int width = 0;
  for (size_t i = 0; i < COLUMN_COUNT; i++)
    width += COLUMNS[i].weight >= weight ? GAP + COLUMNS[i].width : 0;
  return width;
}

static struct layout choose_layout(const struct status_page_view *view, const PGresult *targets) {
  struct layout layout = {.weight = 0, .target = NARROWEST_TARGET};
  for (int row = 0; row < PQntuples(targets); row++) {
    int length = PQgetlength(targets, row, LIVE_TARGET);
    layout.target = length > layout.target ? length : layout.target;
  }
  while (layout.weight <= (int)COLUMN_COUNT && NARROWEST_TARGET + width_from(layout.weight) > view->columns)
    layout.weight++;
  int room = view->columns - width_from(layout.weight);
  layout.target = layout.target > room ? room : layout.target;
  return layout;
}

static void format_cell(char text[CELL_SIZE], const PGresult *targets, int row, int field) {
  const char *value = PQgetvalue(targets, row, field);
  int64_t backlog = result_bigint(targets, row, LIVE_BACKLOG);
  if (field == LIVE_BACKLOG)
    format_backlog(text, backlog, backlog >= MOST_BACKLOG);
  else if (field == LIVE_OLDEST && value[0] != '\0')
    format_age(text, result_bigint(targets, row, field));
  else
    snprintf(text, CELL_SIZE, "%s", value);
}

static const char *state_style(const char *state) {
  if (strcmp(state, "running") == 0)
    return GREEN;
  return strcmp(state, "failing") == 0 || strcmp(state, "halted") == 0 ? RED : YELLOW;
}

static const char *cell_style(int field, const char *text) {
  if (field == LIVE_STATE)
    return state_style(text);
  return field == LIVE_ERRORS && strcmp(text, "0") != 0 ? RED : "";
}

/* Row -1 is the header. */
static void add_target(struct sheet *sheet, const struct layout *layout, const PGresult *targets, int row) {
  const char *name = row < 0 ? "TARGET" : PQgetvalue(targets, row, LIVE_TARGET);
  style(sheet, row < 0 ? DIM : "");
  int used = entry_add_within(sheet->page, name, strlen(name), layout->target);
  buffer_add_format(sheet->page, "%*s", layout->target - used, "");
  for (size_t i = 0; i < COLUMN_COUNT; i++) {
    const struct column *column = &COLUMNS[i];
    char text[CELL_SIZE];
    if (column->weight < layout->weight)
      continue;
    if (row < 0)
      snprintf(text, sizeof text, "%s", column->title);
    else
      format_cell(text, targets, row, column->field);
    const char *sequence = row < 0 ? "" : cell_style(column->field, text);
    style(sheet, sequence);
    buffer_add_format(sheet->page, column->right ? "%*s%*s" : "%*s%-*s", GAP, "", column->width, text);
    style(sheet, sequence[0] != '\0' ? PLAIN : "");
  }
  style(sheet, row < 0 ? PLAIN : "");
  end_line(sheet);
}

/* ---- the page -------------------------------------------------------------------------------------------------- */

static void add_title(struct sheet *sheet) {
  const struct status_page_view *view = sheet->view;
  char right[CELL_SIZE];
  int width = snprintf(right, sizeof right, "%s  every %" PRId64 " s  q quits", view->clock, view->seconds);
  style(sheet, BOLD);
  char left[256];
  text_print(left, sizeof left, "rowrelay  %s", view->source);
  int room = view->columns - width - GAP;
  if (room < NARROWEST_TARGET) {
    entry_add_within(sheet->page, left, strlen(left), view->columns);
    style(sheet, PLAIN);
  } else {
    int used = entry_add_within(sheet->page, left, strlen(left), room);
    style(sheet, PLAIN);
    buffer_add_format(sheet->page, "%*s%s", view->columns - used - width, "", right);
  }
  end_line(sheet);
}

static size_t add_count(char *text, size_t size, size_t length, const PGresult *targets, const char *state) {
  int count = 0;
  for (int row = 0; row < PQntuples(targets); row++)
    count += strcmp(PQgetvalue(targets, row, LIVE_STATE), state) == 0;
  if (count > 0 && length < size)
    length +=
        (size_t)snprintf(text + length, size - length, "%s %d %s", text[length - 1] == ':' ? "" : ",", count, state);
  return length;
}

static void add_totals(struct sheet *sheet, const PGresult *targets) {
  static const char *const STATES[] = {"failing", "halted", "not running", "paused", "running"};
  int count = PQntuples(targets);
  int64_t backlog = 0;
  int64_t errors = 0;
  int64_t blocked = 0;
  bool more = false;
  double rate = 0;
  for (int row = 0; row < count; row++) {
    int64_t own = result_bigint(targets, row, LIVE_BACKLOG);
    backlog += own;
    more = more || own >= MOST_BACKLOG;
    errors += result_bigint(targets, row, LIVE_ERRORS);
    blocked += result_bigint(targets, row, LIVE_BLOCKED);
    rate += strtod(PQgetvalue(targets, row, LIVE_RATE), NULL);
  }
  char text[512];
  char number[CELL_SIZE];
  format_backlog(number, backlog, more);
  int length = snprintf(text, sizeof text, "backlog %s  rate %.1f/s  errors %" PRId64 "  blocked %" PRId64, number,
                        rate, errors, blocked);
  add_line(sheet, "", text, (size_t)length, 0);
  size_t end = (size_t)snprintf(text, sizeof text, "%d target%s%s", count, count == 1 ? "" : "s", count > 0 ? ":" : "");
  for (size_t i = 0; i < sizeof STATES / sizeof STATES[0]; i++)
    end = add_count(text, sizeof text, end, targets, STATES[i]);
  add_line(sheet, "", text, strlen(text), 0);
}

static void add_problem(struct sheet *sheet) {
  if (sheet->view->problem != NULL)
    add_lines(sheet, RED, sheet->view->problem, 0, 2);
}

void status_page_add(struct buffer *page, const struct status_page_view *view, const PGresult *targets) {
  struct sheet sheet = {.page = page, .view = view, .left = view->rows};
  struct layout layout = choose_layout(view, targets);
  int count = PQntuples(targets);
  add_title(&sheet);
  if (sheet.left > 2)
    add_totals(&sheet, targets);
  add_problem(&sheet);
  if (sheet.left > 3)
    end_line(&sheet);
  if (sheet.left > 1)
    add_target(&sheet, &layout, targets, -1);
  for (int row = 0; row < count; row++) {
    int after = count - row - 1; /* of which the last line says how many there are */
    if (sheet.left < 1 + (after > 0)) {
      char text[CELL_SIZE];
      int length = snprintf(text, sizeof text, "and %d more", after + 1);
      if (sheet.left > 0)
        add_line(&sheet, DIM, text, (size_t)length, 0);
      return;
    }
    add_target(&sheet, &layout, targets, row);
    const char *note = PQgetvalue(targets, row, LIVE_NOTE);
    int room = sheet.left - (after > 0);
    if (note != NULL)
      add_lines(&sheet, DIM, note, GAP, room < MOST_NOTE_LINES ? room : MOST_NOTE_LINES);
  }
}

void status_page_add_table(struct buffer *page, const struct status_page_view *view, const char *table) {
  struct sheet sheet = {.page = page, .view = view, .left = view->rows};
  add_title(&sheet);
  add_problem(&sheet);
  if (sheet.left > 3)
    end_line(&sheet);
  while (*table != '\0' && sheet.left > 0) {
    size_t length = strcspn(table, "\n");
    size_t rest = strlen(table) - length;
    if (sheet.left == 1 && rest > 1)
      add_line(&sheet, DIM, "and more", strlen("and more"), 0);
    else
      add_line(&sheet, "", table, length, 0);
    table += length + (table[length] == '\n');
  }
}
