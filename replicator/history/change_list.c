#include "history/change_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "postgres/result.h"
#include "queries.h"

void change_list_init(struct change_list *page) {
  *page = (struct change_list){.items = NULL};
}

void change_list_release(struct change_list *page) {
  free(page->items);
  change_list_init(page);
}

void change_list_clear(struct change_list *page) {
  page->count = 0;
}

bool change_list_make_room(struct change_list *page, size_t more, struct error *error) {
  size_t needed = page->count + more;
  if (needed <= page->capacity)
    return true;
  size_t capacity = needed > 2 * page->capacity ? needed : 2 * page->capacity;
  struct change_list_item *items = realloc(page->items, capacity * sizeof *items);
  if (items == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  page->items = items;
  page->capacity = capacity;
  return true;
}

bool change_list_add(struct change_list *page, const PGresult *rows, int first, int count, struct error *error) {
  if (!change_list_make_room(page, (size_t)count, error))
    return false;
  for (int row = first; row < first + count; row++) {
    struct change_list_item *item = &page->items[page->count++];
    item->id = result_bigint(rows, row, FOUND_CHANGE_ID);
    snprintf(item->day, sizeof item->day, "%s", PQgetvalue(rows, row, FOUND_DAY));
    item->mark = result_bigint(rows, row, FOUND_MARK);
  }
  return true;
}

void change_list_reverse(struct change_list *page) {
  for (size_t i = 0; i < page->count / 2; i++) {
    struct change_list_item item = page->items[i];
    page->items[i] = page->items[page->count - 1 - i];
    page->items[page->count - 1 - i] = item;
  }
}

void change_list_add_ids(const struct change_list *page, size_t from, size_t count, struct buffer *ids) {
  buffer_add_string(ids, "{");
  for (size_t i = from; i < from + count; i++)
    buffer_add_format(ids, "%s%lld", i > from ? "," : "", (long long)page->items[i].id);
  buffer_add_string(ids, "}");
}

void change_list_add_days(const struct change_list *page, size_t from, size_t count, struct buffer *days) {
  buffer_add_string(days, "{");
  for (size_t i = from; i < from + count; i++) {
    /* Neighbours mostly have the same; one that is there twice does no harm. */
    if (i > from && strcmp(page->items[i].day, page->items[i - 1].day) == 0)
      continue;
    buffer_add_format(days, "%s%s", i > from ? "," : "", page->items[i].day);
  }
  buffer_add_string(days, "}");
}
