#include "history/follow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/array.h"
#include "cli/call.h"
#include "common/clock.h"
#include "postgres/number.h"
#include "postgres/result.h"
#include "queries.h"

/* How many changes are found at a time. */
#define LARGEST_PAGE 1000
/* Of what was shown, so many are remembered at most: more than a server forgets in a crash, which is what is not on its
   disk after a second. Half of them go when there are more. */
#define MOST_SHOWN ((size_t)65536)
/* So far below what was shown, ids may be given out anew. */
#define FORGOTTEN_IDS 100000
/* So many snapshots are taken at first, in so many milliseconds: what runs longer is not known from its beginning. */
#define FIRST_LOOKS 5
#define FIRST_PAUSE 20
/* Most points that are kept; without more, a poll may go back a little further than needed. */
#define MOST_POINTS 1000

void follow_init(struct follower *follower, const char *from_day, const char *before_day) {
  *follower = (struct follower){.from_day = from_day, .before_day = before_day};
}

void follow_release(struct follower *follower) {
  free(follower->snapshot); /* NOLINT(clang-analyzer-unix.Malloc): it does not see that end_poll() hands over */
  free(follower->running);
  free(follower->points);
  follow_init(follower, NULL, NULL);
}

/* ---- what was shown -------------------------------------------------------------------------------------------- */

void follow_shown_init(struct follow_shown *shown, const struct follower *begun) {
  *shown = (struct follow_shown){.base = begun->high};
}

void follow_shown_release(struct follow_shown *shown) {
  change_list_release(&shown->page);
}

static int compare_items(const void *one, const void *other) {
  int64_t a = ((const struct change_list_item *)one)->id;
  int64_t b = ((const struct change_list_item *)other)->id;
  return (a > b) - (a < b);
}

static void forget_half(struct follow_shown *shown) {
  struct change_list *page = &shown->page;
  size_t half = page->count / 2;
  qsort(page->items, page->count, sizeof *page->items, compare_items);
  if (page->items[half - 1].id > shown->base)
    shown->base = page->items[half - 1].id;
  page->count -= half;
  memmove(page->items, page->items + half, page->count * sizeof *page->items);
}

static bool was_shown(const struct follow_shown *shown, struct change_list_item item) {
  for (size_t i = shown->page.count; i > 0; i--)
    if (shown->page.items[i - 1].id == item.id && shown->page.items[i - 1].mark == item.mark)
      return true;
  return false;
}

/* ---- who runs -------------------------------------------------------------------------------------------------- */

static bool is_listed(const struct follower *follower, uint64_t txid) {
  for (size_t i = 0; i < follower->running_count; i++)
    if (follower->running[i] == txid)
      return true;
  return false;
}

/* A snapshot's text is xmin:xmax:xid,xid,… where the list holds the transactions that run. */
static bool read_snapshot(struct follower *now, const char *text, struct error *error) {
  const char *xmax = strchr(text, ':');
  const char *list = strrchr(text, ':');
  size_t most = strlen(text) / 2 + 1;
  now->snapshot = strdup(text);
  now->running = calloc(most, sizeof *now->running);
  if (now->snapshot == NULL || now->running == NULL || xmax == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  now->xmax = strtoull(xmax + 1, NULL, 10);
  for (const char *c = list + 1; *c != '\0' && now->running_count < most;) {
    char *end;
    now->running[now->running_count++] = strtoull(c, &end, 10);
    c = *end == ',' ? end + 1 : "";
  }
  return true;
}

/* Whether a transaction of [from, to) may still run; the latter has been begun. */
static bool may_run(const struct follower *now, uint64_t from, uint64_t to) {
  if (from < to && to > now->xmax)
    return true;
  for (size_t i = 0; i < now->running_count; i++)
    if (now->running[i] >= from && now->running[i] < to)
      return true;
  return false;
}

static void thin_out(struct follower *now) {
  size_t kept = 0;
  for (size_t i = 0; i < now->point_count; i += 2)
    now->points[kept++] = now->points[i];
  now->point_count = kept;
}

/* The points of before that are needed still, and the one of now. */
static bool keep_points(const struct follower *before, struct follower *now, struct follow_point point,
                        struct error *error) {
  now->points = calloc(before->point_count + 1, sizeof *now->points);
  if (now->points == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  for (size_t i = 0; i < before->point_count; i++)
    if (may_run(now, before->points[i].next, i + 1 < before->point_count ? before->points[i + 1].next : point.next))
      now->points[now->point_count++] = before->points[i];
  if (now->point_count > MOST_POINTS)
    thin_out(now);
  now->points[now->point_count++] = point;
  now->first = before->snapshot != NULL ? before->first : point.next;
  return true;
}

static bool last_id(struct source *source, int64_t *id, struct error *error) {
  PGresult *reply = NULL;
  if (!call_run(source, &QUERY_horizon_last_id, NO_VALUES, &reply, error))
    return false;
  *id = result_bigint(reply, 0, 0);
  PQclear(reply);
  return true;
}

/* Looks who runs now, compared with what was known before. *now is initialized, and the caller's to release. */
static bool take_snapshot(const struct follower *before, struct source *source, struct follower *now,
                          struct error *error) {
  struct follow_point point;
  PGresult *reply = NULL;
  if (!last_id(source, &point.low, error) || !call_run(source, &QUERY_cmd_log_snapshot, NO_VALUES, &reply, error))
    return false;
  point.next = (uint64_t)result_bigint(reply, 0, LOG_SNAPSHOT_NEXT);
  now->high = result_bigint(reply, 0, LOG_SNAPSHOT_LAST_ID);
  bool ok =
      read_snapshot(now, PQgetvalue(reply, 0, LOG_SNAPSHOT_SNAPSHOT), error) && keep_points(before, now, point, error);
  PQclear(reply);
  return ok;
}

/* Ends a poll: if `ok`, its findings replace what was known; else they are dropped. */
static bool end_poll(struct follower *follower, struct follower *now, bool ok) {
  follow_release(ok ? follower : now);
  if (ok)
    *follower = *now;
  return ok;
}

bool follow_begin(struct follower *follower, struct source *source, struct error *error) {
  for (int i = 0; i < FIRST_LOOKS && (i == 0 || may_run(follower, 0, follower->first)); i++) {
    struct follower now;
    follow_init(&now, follower->from_day, follower->before_day);
    clock_sleep(i > 0 ? FIRST_PAUSE : 0);
    if (!end_poll(follower, &now, take_snapshot(follower, source, &now, error)))
      return false;
  }
  return true;
}

static void *copy(const void *bytes, size_t size) {
  void *copied = malloc(size + 1);
  if (copied != NULL)
    memcpy(copied, bytes, size);
  return copied;
}

bool follow_begin_at(struct follower *follower, const struct follower *other, struct error *error) {
  const char *from_day = follower->from_day;
  const char *before_day = follower->before_day;
  *follower = *other;
  follower->from_day = from_day;
  follower->before_day = before_day;
  follower->snapshot = copy(other->snapshot, strlen(other->snapshot) + 1);
  follower->running = copy(other->running, other->running_count * sizeof *other->running);
  follower->points = copy(other->points, other->point_count * sizeof *other->points);
  bool ok = follower->snapshot != NULL && follower->running != NULL && follower->points != NULL;
  return ok || error_set(error, FAILURE_RETRY, "out of memory");
}

/* ---- who has ended --------------------------------------------------------------------------------------------- */

static bool has_ended(const struct follower *now, uint64_t txid) {
  return txid < now->xmax && !is_listed(now, txid);
}

/* The ids of this transaction are larger; it is one that is known from its beginning. */
static int64_t low_of(const struct follower *follower, uint64_t txid) {
  int64_t low = 0;
  for (size_t i = 0; i < follower->point_count && follower->points[i].next <= txid; i++)
    low = follower->points[i].low;
  return low;
}

/* The ids of all that has been committed between the two are larger, but for what is not known from its beginning. */
static int64_t lowest(const struct follower *before, const struct follower *now) {
  uint64_t first = before->first;
  int64_t low = before->points[before->point_count - 1].low;
  for (size_t i = 0; i < before->running_count; i++) {
    uint64_t txid = before->running[i];
    if (txid >= first && has_ended(now, txid) && low_of(before, txid) < low)
      low = low_of(before, txid);
  }
  uint64_t unlisted = before->xmax > first ? before->xmax : first;
  if (now->xmax > before->xmax && low_of(before, unlisted) < low)
    low = low_of(before, unlisted);
  return low;
}

/* ---- what is new ----------------------------------------------------------------------------------------------- */

/* One poll. */
struct poll {
  struct source *source;
  struct follow_reader *reader;
  const struct follower *before;
  const struct follower *now;
  bool again;
};

/* Hands a page to the reader, but for what it has. */
static bool hand_over(struct poll *poll, struct change_list *page, struct error *error) {
  struct follow_shown *shown = poll->reader->shown;
  size_t kept = 0;
  size_t printed = 0;
  for (size_t i = 0; i < page->count; i++)
    if (!poll->again || !was_shown(shown, page->items[i]))
      page->items[kept++] = page->items[i];
  page->count = kept;
  /* room is made first: what was printed must be remembered */
  if (kept == 0 || !change_list_make_room(&shown->page, kept, error))
    return kept == 0;
  bool ok = poll->reader->print(poll->reader, poll->source, page, &printed, error);
  memcpy(shown->page.items + shown->page.count, page->items, printed * sizeof *page->items);
  shown->page.count += printed;
  if (shown->page.count > MOST_SHOWN)
    forget_half(shown);
  return ok;
}

static bool find_above(struct poll *poll, int64_t from, struct error *error) {
  const struct log_filter *filter = poll->reader->filter;
  const struct number base = number(poll->reader->shown->base);
  const struct number first = number((int64_t)poll->before->first);
  struct number after = number(from);
  struct change_list page;
  change_list_init(&page);
  bool ok = true;
  for (int found = LARGEST_PAGE; ok && found == LARGEST_PAGE;) {
    PGresult *rows = NULL;
    ok = call_run(poll->source, &QUERY_cmd_log_news,
                  VALUES(after.text, poll->before->from_day, poll->before->before_day, poll->before->snapshot,
                         poll->now->snapshot, poll->again ? base.text : NULL, first.text, filter->relations,
                         filter->actors, filter->ops, filter->since, filter->until, filter->key, filter->txid,
                         number(LARGEST_PAGE).text),
                  &rows, error);
    found = ok ? PQntuples(rows) : 0;
    change_list_clear(&page);
    ok = ok && change_list_add(&page, rows, 0, found, error);
    if (ok && found > 0)
      after = number(page.items[found - 1].id);
    PQclear(rows);
    ok = ok && hand_over(poll, &page, error);
  }
  change_list_release(&page);
  return ok;
}

/* All of a transaction that ran when following began. */
static bool find_transaction(struct poll *poll, uint64_t txid, struct error *error) {
  char text[24];
  snprintf(text, sizeof text, "%" PRIu64, txid);
  if (poll->reader->filter->txid != NULL && strcmp(poll->reader->filter->txid, text) != 0)
    return true;
  struct log_filter filter = *poll->reader->filter;
  filter.txid = text;
  filter.snapshot = poll->now->snapshot;
  struct log_reader book;
  struct change_list page;
  change_list_init(&page);
  bool ok = log_reader_open(&book, poll->source, &filter, error);
  for (size_t before = SIZE_MAX; ok && page.count != before;) {
    before = page.count;
    ok = log_reader_read(&book, &page, LARGEST_PAGE, error);
  }
  change_list_reverse(&page);
  ok = ok && hand_over(poll, &page, error);
  log_reader_close(&book);
  change_list_release(&page);
  return ok;
}

/* What ran when following began, and has ended between the two. Such transactions can be of any day. */
static bool find_early_ones(struct poll *poll, struct error *error) {
  const struct follower *before = poll->before;
  for (size_t i = 0; i < before->running_count; i++)
    if (before->running[i] < before->first && has_ended(poll->now, before->running[i]) &&
        !find_transaction(poll, before->running[i], error))
      return false;
  for (uint64_t txid = before->xmax; txid < before->first; txid++)
    if (has_ended(poll->now, txid) && !find_transaction(poll, txid, error))
      return false;
  return true;
}

static bool poll_between(struct poll *poll, struct error *error) {
  int64_t from = lowest(poll->before, poll->now);
  if (poll->again)
    from = (from < poll->reader->shown->base ? from : poll->reader->shown->base) - FORGOTTEN_IDS;
  /* Else no id was given out since. */
  if (from < poll->now->high && !find_above(poll, from, error))
    return false;
  return poll->before->from_day == NULL || find_early_ones(poll, error);
}

bool follow_poll(struct follower *follower, struct source *source, struct follow_reader *reader, bool again,
                 struct error *error) {
  struct follower now;
  struct poll poll = {.source = source, .reader = reader, .before = follower, .now = &now, .again = again};
  follow_init(&now, follower->from_day, follower->before_day);
  bool ok = take_snapshot(follower, source, &now, error) && poll_between(&poll, error);
  return end_poll(follower, &now, ok);
}
