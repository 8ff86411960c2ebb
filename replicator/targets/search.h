/*
 * search: what the parts of the search engines' target share: the target, its requests (search_request.c) and its
 * indexes (search_index.c). What is pushed is in search.c.
 */
#ifndef ROWRELAY_TARGETS_SEARCH_H
#define ROWRELAY_TARGETS_SEARCH_H

#include "targets/http.h"
#include "targets/target.h"

#define SEARCH_NAME_LIMIT ((size_t)64 * 1024)
#define SEARCH_BODY_LIMIT ((size_t)1200 * 1024 * 1024)

struct search {
  const struct settings *settings;
  char *base;  /* URL without the index, and without a slash at its end */
  char *index; /* that the URL names; NULL: one for each table, called like it */
  int64_t bulk_bytes;
  bool gzip;
  struct http_target http;
  int *prepared; /* captures whose index was checked */
  size_t prepared_count;
};

/* A request to a server. */
struct search_question {
  const char *method;
  const char *path;
  const char *content;       /* the body's type; NULL: JSON */
  const struct buffer *body; /* NULL: none */
  const struct push *push;   /* whose rows it writes; NULL: of none */
};

/*
 * Sends one request and waits for an answer of any status; false when there is none. The caller releases *request.
 */
MUST_CHECK bool search_ask(struct search *search, const struct search_question *question, struct http_request *request,
                           struct error *error);
/* The same; the answer must be a success. `answered`: for the caller to release if it is; NULL: it is dropped. */
MUST_CHECK bool search_ask_well(struct search *search, const struct search_question *question,
                                struct http_request *answered, struct error *error);

/*
 * Adds the name of a route's index: the URL's, or the table's with nothing in it that an index may not be called, as
 * schema/functions/index_name.sql makes it, which sees to it that no two tables have the same.
 */
void search_add_index(const struct search *search, const struct route *route, struct buffer *name);
/* Creates a route's index if wanted and missing. */
MUST_CHECK bool search_prepare_index(struct search *search, const struct route *route, struct error *error);

/*
 * An index remembers for so long (its setting gc_deletes, a minute by default) that a row was deleted, and at which
 * version. A request that was given up and arrives later brings the row back, so this is longer than any is on its way:
 * than push_timeout, and an outage. Seconds.
 */
int64_t search_memory_of_deletes(const struct search *search);
/* Appends a warning to `text` if the index in the URL forgets sooner; nothing if it cannot be said. */
void search_warn_of_memory(struct search *search, struct buffer *text);

#endif
