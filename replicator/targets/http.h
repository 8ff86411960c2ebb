/*
 * http: what all targets that are reached by HTTP have in common: how to connect, and which headers to send.
 */
#ifndef ROWRELAY_TARGETS_HTTP_H
#define ROWRELAY_TARGETS_HTTP_H

#include <jansson.h>

#include "http/client.h"
#include "source/settings.h"
#include "targets/target_option.h"
#include "targets/verdict.h"

/* What can be set of each of them. */
extern const struct target_option TARGET_HTTP_OPTIONS[];

/* What each of their URLs needs. */
#define TARGET_HTTP_RULE_HOST                                                                                          \
  { .pattern = "^[a-z+]+://[^/?#]+", .problem = "names no host", .hint = "Write SCHEME://HOST/PATH." }

struct http_target {
  json_t *options;                           /* the target's, as they were set */
  const struct target_option *const *tables; /* of what they can be */
  struct http *http;
  struct curl_slist *headers; /* of the user's, with secrets filled in, and authentication */
  int concurrency;            /* requests in flight */
};

/* Reads the options, which are those of `tables` (see struct target_kind), and makes ready to connect. */
MUST_CHECK bool http_target_init(struct http_target *target, const struct settings *settings,
                                 const struct target_option *const *tables, struct error *error);
void http_target_release(struct http_target *target);

/* An option as it was set, else its default; NULL, 0 or false: it has none. */
const char *http_target_text(const struct http_target *target, const char *name);
int64_t http_target_number(const struct http_target *target, const char *name);
bool http_target_flag(const struct http_target *target, const char *name);

/*
 * What an answer means that is not a success: FAILURE_REFUSED where the body that was sent is at fault, FAILURE_GONE
 * for 410, FAILURE_RETRY and FAILURE_FATAL where the target is. Always false.
 */
bool http_target_failed(const struct http_request *request, struct error *error);

/* The beginning of what a server said, on one line and in UTF-8, whatever it was: it may quote a row. */
void http_target_show(const char *said, size_t said_length, char *shown, size_t size);

/* Makes the beginning of an answer the error's detail. Always false. */
bool http_target_quote(const struct http_request *request, struct error *error);

/* An answer's status, and its name where that is one of a success: "204 No Content". */
void http_target_answer(long status, char answer[static VERDICT_ANSWER_SIZE]);

/* The user's headers, and of `more` those that he has not set himself; NULL when there is no memory. Free with
 * curl_slist_free_all(). */
struct curl_slist *http_target_headers(const struct http_target *target, const char *const *more, size_t count);

#endif
