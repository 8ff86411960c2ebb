#include "history/log_reader.h"

#include "cli/array.h"
#include "cli/call.h"
#include "common/clock.h"
#include "postgres/number.h"
#include "postgres/result.h"
#include "queries.h"

/* How many ids a statement looks at: at first, and at most. */
#define FIRST_WINDOW 1000
#define LARGEST_WINDOW 1000000
/* Milliseconds that it is to take. */
#define SHORT_TIME 50
#define LONG_TIME 200
/* How many of a list of changes are looked at at a time. */
#define LIST_PART 1000

/* What is known to be small: the changes of one key, or of one transaction. */
static bool open_list(struct log_reader *book, struct error *error) {
  const struct log_filter *filter = book->filter;
  PGresult *rows = NULL;
  bool ok = filter->key != NULL
                ? call_run(book->source, &QUERY_cmd_log_of_key, VALUES(filter->relations, filter->key), &rows, error)
                : call_run(book->source, &QUERY_cmd_log_of_transaction, VALUES(filter->txid), &rows, error);
  ok = ok && change_list_add(&book->list, rows, 0, PQntuples(rows), error);
  PQclear(rows);
  return ok;
}

bool log_reader_open(struct log_reader *book, struct source *source, const struct log_filter *filter,
                     struct error *error) {
  *book = (struct log_reader){.source = source, .filter = filter, .high = -1, .window = FIRST_WINDOW};
  change_list_init(&book->list);
  book->is_list = filter->key != NULL || filter->txid != NULL;
  if (book->is_list)
    return open_list(book, error);
  return call_run(source, &QUERY_cmd_log_slices, VALUES(filter->since, filter->until), &book->slices, error);
}

void log_reader_close(struct log_reader *book) {
  PQclear(book->slices);
  book->slices = NULL;
  change_list_release(&book->list);
}

/* Where the log is looked into. */
struct place {
  const char *low; /* ids in (low, high]; NULL: no bounds */
  const char *high;
  const char *days; /* an array literal */
  const char *ids;  /* the same; these only, NULL: all */
};

/* Those that are wanted there, at most `limit`. */
static bool find(struct log_reader *book, const struct place *place, size_t limit, PGresult **rows,
                 struct error *error) {
  const struct log_filter *filter = book->filter;
  /* The list of a key's changes has truncates too. */
  const char *key = book->is_list ? NULL : filter->key;
  return call_run(book->source, &QUERY_cmd_log_find,
                  VALUES(place->low, place->high, place->days, place->ids, filter->relations, key, filter->txid,
                         filter->actors, filter->ops, filter->since, filter->until, filter->snapshot,
                         number((int64_t)limit).text),
                  rows, error);
}

/* ---- by number ------------------------------------------------------------------------------------------------- */

static bool look_at_list(struct log_reader *book, struct change_list *page, size_t limit, struct error *error) {
  size_t left = book->list.count - book->listed;
  size_t part = left < LIST_PART ? left : LIST_PART;
  part = part < limit ? part : limit;
  struct buffer ids;
  struct buffer days;
  PGresult *rows = NULL;
  buffer_init(&ids, LIST_LIMIT);
  buffer_init(&days, LIST_LIMIT);
  change_list_add_ids(&book->list, book->listed, part, &ids);
  change_list_add_days(&book->list, book->listed, part, &days);
  struct place place = {.days = days.data, .ids = ids.data};
  bool ok = buffer_ok(&ids, "a list of changes", error) && buffer_ok(&days, "a list of days", error) &&
            find(book, &place, part, &rows, error) && change_list_add(page, rows, 0, PQntuples(rows), error);
  PQclear(rows);
  buffer_release(&ids);
  buffer_release(&days);
  book->listed += part;
  return ok;
}

/* ---- by slices ------------------------------------------------------------------------------------------------- */

/* How many rows pass a filter, and how long it takes to find out, is not known before. */
static void adapt(struct log_reader *book, int64_t milliseconds) {
  if (milliseconds < SHORT_TIME && book->window < LARGEST_WINDOW)
    book->window *= 2;
  else if (milliseconds > LONG_TIME && book->window > FIRST_WINDOW)
    book->window /= 2;
}

/* Whole starts of the server can be between two ids, so that looking at window after window would take for ever. */
static bool skip_gap(struct log_reader *book, const char *days, int64_t *high, struct error *error) {
  PGresult *reply = NULL;
  if (!call_run(book->source, &QUERY_cmd_log_skip, VALUES(number(*high).text, days), &reply, error))
    return false;
  *high = result_bigint(reply, 0, 0);
  PQclear(reply);
  return true;
}

static bool look_at_slice(struct log_reader *book, struct change_list *page, size_t limit, struct error *error) {
  int64_t slice_low = result_bigint(book->slices, book->slice, SLICE_LOW);
  if (book->high < 0)
    book->high = result_bigint(book->slices, book->slice, SLICE_HIGH);
  int64_t low = book->high - book->window > slice_low ? book->high - book->window : slice_low;
  int64_t began = clock_now();
  const char *days = PQgetvalue(book->slices, book->slice, SLICE_DAYS);
  PGresult *rows = NULL;
  struct number behind = number(low);
  struct number up_to = number(book->high);
  struct place place = {.low = behind.text, .high = up_to.text, .days = days};
  if (!find(book, &place, limit, &rows, error))
    return false;
  int found = PQntuples(rows);
  bool ok = change_list_add(page, rows, 0, found, error);
  PQclear(rows);
  bool all = (size_t)found < limit;
  if (all)
    adapt(book, clock_now() - began);
  book->high = all || !ok ? low : page->items[page->count - 1].id - 1;
  if (ok && found == 0 && book->high > slice_low)
    ok = skip_gap(book, days, &book->high, error);
  if (book->high > slice_low)
    return ok;
  book->slice++;
  book->high = -1;
  return ok;
}

bool log_reader_read(struct log_reader *book, struct change_list *page, size_t limit, struct error *error) {
  size_t before = page->count;
  while (page->count == before && limit > 0) {
    if (book->is_list ? book->listed == book->list.count : book->slice == PQntuples(book->slices))
      return true;
    if (!(book->is_list ? look_at_list : look_at_slice)(book, page, limit, error))
      return false;
  }
  return true;
}
