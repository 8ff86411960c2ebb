#include "history/printer.h"

#include <string.h>

#include "cli/array.h"
#include "cli/call.h"
#include "common/json.h"
#include "queries.h"

/* Changes that are read at a time: at first, so that something is seen at once, and at most. */
#define FIRST_BATCH 20
#define LARGEST_BATCH 1000
/* Bytes that they are to take. */
#define BATCH_BYTES ((size_t)4 * 1024 * 1024)
/* An entry that shows a row as long as PostgreSQL allows twice, every byte of it escaped. */
#define LONGEST_ENTRY ((size_t)8 * 1024 * 1024 * 1024)

void printer_init(struct printer *printer, struct pager *pager) {
  *printer = (struct printer){.pager = pager, .newest_first = true, .batch = FIRST_BATCH};
}

static void add_entry(struct printer *printer, const PGresult *rows, int row, struct buffer *text) {
  switch (printer->form) {
  case FORM_PARAGRAPHS:
    buffer_add_string(text, printer->printed ? "\n" : "");
    entry_add_paragraph(text, &printer->style, rows, row);
    break;
  case FORM_LINES:
    entry_add_line(text, &printer->style, rows, row);
    break;
  case FORM_JSON:
    json_add_line(text, PQgetvalue(rows, row, 0));
    buffer_add_string(text, "\n");
    break;
  }
  printer->printed = true;
}

static bool print_rows(struct printer *printer, const PGresult *rows, struct error *error) {
  int count = PQntuples(rows);
  struct buffer text;
  buffer_init(&text, LONGEST_ENTRY);
  bool ok = true;
  for (int i = 0; ok && i < count; i++) {
    buffer_clear(&text);
    add_entry(printer, rows, printer->newest_first ? i : count - 1 - i, &text);
    ok = buffer_ok(&text, "a change to be printed", error);
    if (ok)
      fwrite(text.data, 1, text.length, printer->pager->out);
  }
  buffer_release(&text);
  return ok && pager_flush(printer->pager, error);
}

/* What was read this time tells how many to read the next time. */
static void adapt(struct printer *printer, const PGresult *rows) {
  size_t bytes = PQresultMemorySize(rows) + 1;
  size_t fit = (size_t)PQntuples(rows) * BATCH_BYTES / bytes;
  fit = fit < 2 * printer->batch ? fit : 2 * printer->batch;
  fit = fit > 0 ? fit : 1;
  printer->batch = fit < LARGEST_BATCH ? fit : LARGEST_BATCH;
}

/* What a statement is given: the changes to print, their days, and those that must be read for it. */
struct part {
  struct buffer ids;
  struct buffer days;
  struct change_list read;
  struct buffer read_ids;
};

static void part_init(struct part *part) {
  buffer_init(&part->ids, LIST_LIMIT);
  buffer_init(&part->days, LIST_LIMIT);
  buffer_init(&part->read_ids, LIST_LIMIT);
  change_list_init(&part->read);
}

static void part_release(struct part *part) {
  buffer_release(&part->ids);
  buffer_release(&part->days);
  buffer_release(&part->read_ids);
  change_list_release(&part->read);
}

/* Each of the next changes and, of one key's, the one before it. */
static bool add_older(const struct printer *printer, const struct change_list *page, size_t count,
                      struct change_list *read, struct error *error) {
  size_t from = printer->done;
  const struct change_list *life = printer->life;
  size_t at = 0;
  if (!change_list_make_room(read, 2 * count, error))
    return false;
  for (size_t i = from; i < from + count; i++) {
    read->items[read->count++] = page->items[i];
    /* A page in the other order is a short one. */
    if (i > from && page->items[i].id > page->items[i - 1].id)
      at = 0;
    while (life != NULL && at < life->count && life->items[at].id > page->items[i].id)
      at++;
    if (life != NULL && at + 1 < life->count)
      read->items[read->count++] = life->items[at + 1];
  }
  return true;
}

/* For the next `count` changes of the page. */
static bool make_part(const struct printer *printer, const struct change_list *page, size_t count, struct part *part,
                      struct error *error) {
  buffer_clear(&part->ids);
  buffer_clear(&part->days);
  buffer_clear(&part->read_ids);
  change_list_clear(&part->read);
  if (!add_older(printer, page, count, &part->read, error))
    return false;
  change_list_add_ids(page, printer->done, count, &part->ids);
  change_list_add_ids(&part->read, 0, part->read.count, &part->read_ids);
  change_list_add_days(&part->read, 0, part->read.count, &part->days);
  return buffer_ok(&part->read_ids, "a list of changes", error) && buffer_ok(&part->days, "a list of days", error);
}

static bool print_part(struct printer *printer, struct source *source, const struct part *part, struct error *error) {
  PGresult *rows = NULL;
  bool json = printer->form == FORM_JSON;
  const char *with_deliveries = printer->form == FORM_PARAGRAPHS ? "true" : "false";
  const char *life = printer->life != NULL ? part->read_ids.data : NULL;
  if (!call_run(source, json ? &QUERY_cmd_log_json : &QUERY_cmd_log_entries,
                json ? VALUES(part->ids.data, part->days.data)
                     : VALUES(part->ids.data, part->days.data, with_deliveries, life),
                &rows, error))
    return false;
  adapt(printer, rows);
  bool ok = print_rows(printer, rows, error);
  PQclear(rows);
  return ok;
}

bool printer_print(struct printer *printer, struct source *source, const struct change_list *page,
                   struct error *error) {
  bool ok = true;
  struct part part;
  part_init(&part);
  printer->done = 0;
  while (ok && printer->done < page->count && !printer->pager->left) {
    size_t left = page->count - printer->done;
    size_t count = left < printer->batch ? left : printer->batch;
    ok = make_part(printer, page, count, &part, error) && print_part(printer, source, &part, error);
    printer->done += ok ? count : 0;
  }
  part_release(&part);
  return ok;
}
