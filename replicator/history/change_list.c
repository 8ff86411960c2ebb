#include "history/change_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "postgres/result.h"

void page_init(struct page *page) {
  *page = (struct page){.items = NULL};
}

void page_release(struct page *page) {
  free(page->items);
  page_init(page);
}

void page_clear(struct page *page) {
  page->count = 0;
}

bool page_make_room(struct page *page, size_t more, struct error *error) {
  size_t needed = page->count + more;
  if (needed <= page->capacity)
    return true;
  size_t capacity = needed > 2 * page->capacity ? needed : 2 * page->capacity;
  struct page_item *items = realloc(page->items, capacity * sizeof *items);
  if (items == NULL)
    return error_set(error, FAILURE_FATAL, "out of memory");
  page->items = items;
  page->capacity = capacity;
  return true;
}

bool page_add(struct page *page, const PGresult *rows, int first, int count, struct error *error) {
  if (!page_make_room(page, (size_t)count, error))
    return false;
  for (int row = first; row < first + count; row++) {
    struct page_item *item = &page->items[page->count++];
    item->id = reply_bigint(rows, row, 0);
    snprintf(item->day, sizeof item->day, "%s", PQgetvalue(rows, row, 1));
    item->mark = PQnfields(rows) > 2 ? reply_bigint(rows, row, 2) : 0;
  }
  return true;
}

void page_reverse(struct page *page) {
  for (size_t i = 0; i < page->count / 2; i++) {
    struct page_item item = page->items[i];
    page->items[i] = page->items[page->count - 1 - i];
    page->items[page->count - 1 - i] = item;
  }
}

void page_add_ids(const struct page *page, size_t from, size_t count, struct buffer *ids) {
  buffer_add_string(ids, "{");
  for (size_t i = from; i < from + count; i++)
    buffer_add_format(ids, "%s%lld", i > from ? "," : "", (long long)page->items[i].id);
  buffer_add_string(ids, "}");
}

void page_add_days(const struct page *page, size_t from, size_t count, struct buffer *days) {
  buffer_add_string(days, "{");
  for (size_t i = from; i < from + count; i++) {
    /* Neighbours mostly have the same; one that is there twice does no harm. */
    if (i > from && strcmp(page->items[i].day, page->items[i - 1].day) == 0)
      continue;
    buffer_add_format(days, "%s%s", i > from ? "," : "", page->items[i].day);
  }
  buffer_add_string(days, "}");
}
