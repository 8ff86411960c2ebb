/*
 * change_list: ids of changes to print, with the days under which the log keeps them. Their contents are read only when
 * they are printed, so that a page is small however large the rows are.
 */
#ifndef ROWRELAY_HISTORY_CHANGE_LIST_H
#define ROWRELAY_HISTORY_CHANGE_LIST_H

#include <libpq-fe.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buffer.h"

struct change_list {
  struct change_list_item {
    int64_t id;
    char day[16]; /* in ISO style; years have four digits */
    int64_t mark; /* distinguishes changes with the same id; see cmd_log_news.sql */
  } * items;      /* owned */
  size_t count;
  size_t capacity;
};

void change_list_init(struct change_list *page);
void change_list_release(struct change_list *page);
/* Empties it, and keeps the memory. */
void change_list_clear(struct change_list *page);

/* Reserves room for `more` items. */
MUST_CHECK bool change_list_make_room(struct change_list *page, size_t more, struct error *error);
/* Appends rows whose columns are id, day and, if there is a third one, mark. */
MUST_CHECK bool change_list_add(struct change_list *page, const PGresult *rows, int first, int count,
                                struct error *error);
/* Reverses the order. */
void change_list_reverse(struct change_list *page);

/* Appends items [from, from + count) as array literals: ids, and each of their days once. Either may be NULL. */
void change_list_add_ids(const struct change_list *page, size_t from, size_t count, struct buffer *ids);
void change_list_add_days(const struct change_list *page, size_t from, size_t count, struct buffer *days);

#endif
