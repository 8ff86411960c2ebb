/*
 * listener: somebody who asked for changes over HTTP, where it stands in the log, and what is said to it: Server-Sent
 * Events, or one answer of JSON lines.
 */
#ifndef ROWRELAY_MONITOR_LISTENER_H
#define ROWRELAY_MONITOR_LISTENER_H

#include <libpq-fe.h>

#include "http/exchange.h"
#include "monitor/tokens.h"

struct listener {
  struct listener *next;
  struct exchange *exchange;
  struct token token;
  bool is_stream;  /* of events */
  bool has_begun;  /* its answer */
  bool was_read;   /* so its cursor is one, and no word for one */
  bool has_more;   /* behind the cursor */
  int most;        /* changes that are read for it at a time */
  char *tables;    /* that it named, an array; NULL: all */
  char *relations; /* their ids, an array; NULL: not known yet, or all */
  char *cursor;
  int64_t until;     /* if there are none, it is answered then; clock_now() */
  int64_t spoken_at; /* when it was last told anything */
};

/* Reads what is wanted. NULL: the answer says why not. */
struct listener *listener_new(const struct server_request *request, struct exchange *exchange,
                              const struct token *token, struct server_answer *answer);
/* Its exchange must have been answered or ended. */
void listener_free(struct listener *listener);

/* It has not read to the end of the log yet. */
bool listener_is_behind(const struct listener *listener);
/* By what is asked for: those that are equal get the same answer. Those that are behind come last. */
int listener_compare(const struct listener *one, const struct listener *other);

/* Whether it can be told something. */
bool listener_is_ready(const struct listener *listener);

/* What was read: rows of changes_read.sql, of which so many are handed out. */
struct listener_news {
  const PGresult *changes;
  int count;
};

/*
 * News as all listeners of this kind get them; a row that does not fit beside those before it is left for the next time
 * (news->count). NULL: the first is too large, or, FAILURE_RETRY, there is no memory.
 */
struct piece *listener_format(const struct listener *listener, struct listener_news *news, struct error *error);
/*
 * It stands behind what was read, and gets the piece if it is due. True: it was answered as a whole, and is to be
 * freed; false as well if there is no memory, then nothing happened.
 */
MUST_CHECK bool listener_take(struct listener *listener, const struct listener_news *news, struct piece *piece);
/* The source cannot be asked for now. True: it was answered that. */
MUST_CHECK bool listener_is_told_to_wait(struct listener *listener, const struct error *error);
/* Tells it so if nothing was said for long. */
void listener_keep_alive(struct listener *listener);
/*
 * It gets no more, because of this error; the HTTP status is for those that have not begun. `next_cursor`: where it may
 * go on nevertheless; NULL: nowhere. It is then to be freed.
 */
void listener_refuse(struct listener *listener, unsigned status, const struct error *error, const char *next_cursor);

#endif
