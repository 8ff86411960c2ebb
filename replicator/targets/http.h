/*
 * http: what all HTTP targets have in common: how to connect, and which headers to send.
 */
#ifndef ROWRELAY_TARGETS_HTTP_H
#define ROWRELAY_TARGETS_HTTP_H

#include "http/client.h"
#include "source/settings.h"
#include "targets/target.h"
#include "targets/target_values.h"

/* Options of each of them, which has those of tls_options.h, too. */
extern const struct target_option TARGET_HTTP_OPTIONS[];

/* A rule for each of their URLs. */
#define TARGET_HTTP_RULE_HOST                                                                                          \
  { .pattern = "^[a-z+]+://[^/?#]+", .problem = "names no host", .hint = "Write SCHEME://HOST/PATH." }

struct http_target {
  struct target_values values;
  struct http *http;
  struct curl_slist *headers; /* the user's, with secrets filled in, and authentication */
  int concurrency;            /* requests in flight */
};

/* Reads the options described by `tables` (see struct target_kind), and prepares to connect. */
MUST_CHECK bool http_target_init(struct http_target *target, const struct settings *settings,
                                 const struct target_option *const *tables, struct error *error);
void http_target_release(struct http_target *target);

/*
 * Makes an error of an answer that is no success: FAILURE_REFUSED if the request's body is at fault, FAILURE_GONE for
 * 410, FAILURE_RETRY or FAILURE_FATAL if the target is. Always false.
 */
bool http_target_failed(const struct http_request *request, struct error *error);

/* After a request that failed: if it was not sent, the changes without a verdict are for later. */
void http_target_unsent(const struct http_request *request, const struct push *push);

/* The beginning of an answer, made one line of valid UTF-8, since it may quote a row. */
void http_target_show(const char *said, size_t said_length, char *shown, size_t size);

/* Puts the beginning of an answer into the error's detail. Always false. */
bool http_target_quote(const struct http_request *request, struct error *error);

/* An answer's status, with its name if it is a success: "204 No Content". */
void http_target_answer(long status, char answer[static VERDICT_ANSWER_SIZE]);

/* The user's headers, and those of `more` that the user has not set; NULL: out of memory. Free with
 * curl_slist_free_all(). */
struct curl_slist *http_target_headers(const struct http_target *target, const char *const *more, size_t count);

#endif
