/*
 * page: numbers of changes that are to be printed, with the days under which the log keeps them. What is in them is
 * read only then, so that a page is small however large the rows are.
 */
#ifndef ROWRELAY_HISTORY_CHANGE_LIST_H
#define ROWRELAY_HISTORY_CHANGE_LIST_H

#include <libpq-fe.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buffer.h"

struct page {
  struct page_item {
    int64_t id;
    char day[16];
    int64_t mark; /* tells it from another that has its id; see cmd_log_news.sql */
  } * items;      /* owned */
  size_t count;
  size_t capacity;
};

void page_init(struct page *page);
void page_release(struct page *page);
/* Empties it, and keeps the memory. */
void page_clear(struct page *page);

/* So that `more` items can be added. */
MUST_CHECK bool page_make_room(struct page *page, size_t more, struct error *error);
/* Appends rows whose columns are id, day and, if there is a third one, mark. */
MUST_CHECK bool page_add(struct page *page, const PGresult *rows, int first, int count, struct error *error);
/* The other way round. */
void page_reverse(struct page *page);

/* Appends items [from, from + count) as array literals: ids, and each of their days once. Either may be NULL. */
void page_add_ids(const struct page *page, size_t from, size_t count, struct buffer *ids);
void page_add_days(const struct page *page, size_t from, size_t count, struct buffer *days);

#endif
