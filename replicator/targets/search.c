/*
 * Elasticsearch and OpenSearch: current rows and documents, one index for each table, by bulk requests.
 *
 * Each item carries a version that grows with every change of its row: the change's id, or for a document, which is
 * read anew each time, the number of the claim. The index refuses versions older than its own, so a late
 * process does no harm, and what is sent twice is stored once.
 */
#include "targets/search.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json_tree.h"
#include "common/text.h"
#include "targets/change_json.h"
#include "targets/row_order.h"
#include "targets/tls_options.h"

#define LONGEST_ID 512    /* bytes */
#define SHOWN_REASON 1024 /* the same */
#define MOST_DELETIONS 10 /* of an index that others write to */

static const struct target_option OWN_OPTIONS[] = {
    {.name = "bulk_bytes",
     .help = "largest request",
     .number = "a number of bytes in a request",
     .least = 1024,
     .most = 104857600,
     .initial = "5242880"},
    {.name = "gzip", .help = "whether to compress requests", .choices = "true|false", .initial = "false"},
    {.name = "api_key",
     .help = "API key of the search engine, sent with each request",
     .pattern = "^" TARGET_OPTION_VARIABLE "$",
     .words = "${NAME}, taken from the environment of rowrelay run",
     .secret = true},
    TARGET_OPTION_END,
};
static const struct target_option *const OPTIONS[] = {TARGET_HTTP_OPTIONS, TARGET_TLS_OPTIONS, OWN_OPTIONS, NULL};

static bool search_wants_details(const struct settings *settings) {
  (void)settings;
  return false;
}

static void search_close(void *handle) {
  struct search *search = handle;
  if (search == NULL)
    return;
  http_target_release(&search->http);
  free(search->base);
  free(search->index);
  free(search->prepared);
  free(search);
}

/* Splits the URL: the index follows its last slash. */
static bool read_url(struct search *search, const char *url, struct error *error) {
  const char *plain = strchr(url, '+') + 1;
  search->base = strdup(plain);
  if (search->base == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  char *path = strchr(strstr(search->base, "://") + 3, '/');
  if (path == NULL)
    return true;
  char *last = strrchr(path, '/');
  if (last[1] != '\0') {
    search->index = strdup(last + 1);
    if (search->index == NULL)
      return error_set(error, FAILURE_RETRY, "out of memory");
  }
  *last = '\0';
  return true;
}

static bool search_open(void **handle, const struct settings *settings, const char *url, struct source *source,
                        struct error *error) {
  (void)source;
  struct search *search = calloc(1, sizeof *search);
  if (search == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  search->settings = settings;
  bool ok = read_url(search, url, error) && http_target_init(&search->http, settings, OPTIONS, error);
  if (!ok) {
    search_close(search);
    return false;
  }
  search->bulk_bytes = target_values_number(&search->http.values, "bulk_bytes");
  search->gzip = target_values_flag(&search->http.values, "gzip");
  *handle = search;
  return true;
}

/* ---- bulk ------------------------------------------------------------------------------------------------------ */

/* A push on its way. */
struct bulk {
  struct search *search;
  const struct push *push;
  bool *is_last; /* of its row's changes; the others are not sent */
  bool *is_only; /* its row has no other change in the push */
  size_t *items; /* indexes of the changes in the request */
  size_t item_count;
  struct buffer body;
  bool refused; /* some of it must be tried in smaller parts */
  bool failed;  /* the target is at fault */
  struct error *error;
};

/* A key that is too long for an id is its beginning and its SHA-256. */
static bool add_id(struct buffer *body, const char *key, struct error *error) {
  size_t length = strlen(key);
  if (length <= LONGEST_ID) {
    buffer_add_json_string(body, key);
    return true;
  }
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int bytes = 0;
  if (EVP_Digest(key, length, digest, &bytes, EVP_sha256(), NULL) != 1)
    return error_set(error, FAILURE_RETRY, "out of memory");
  size_t kept = LONGEST_ID - 1 - (size_t)2 * bytes;
  while (kept > 0 && ((unsigned char)key[kept] & 0xC0) == 0x80)
    kept--;
  char id[LONGEST_ID + 1];
  int end = snprintf(id, sizeof id, "%.*s~", (int)kept, key);
  for (unsigned int i = 0; i < bytes; i++)
    end += snprintf(id + end, sizeof id - (size_t)end, "%02x", digest[i]);
  buffer_add_json_string(body, id);
  return true;
}

static bool add_item(struct bulk *bulk, size_t index, struct error *error) {
  const struct change *change = bulk->push->changes[index];
  bool deletes = change->operation == OPERATION_DELETE;
  struct buffer name;
  buffer_init(&name, SEARCH_NAME_LIMIT);
  search_add_index(bulk->search, change->route, &name);
  buffer_add_format(&bulk->body, "{\"%s\":{\"_index\":", deletes ? "delete" : "index");
  buffer_add_json_string(&bulk->body, name.data);
  buffer_release(&name);
  buffer_add_string(&bulk->body, ",\"_id\":");
  if (!add_id(&bulk->body, change->key, error))
    return false;
  buffer_add_format(&bulk->body, ",\"version\":%lld,\"version_type\":\"external\"}}\n",
                    (long long)(change->route->document ? bulk->push->token : change->id));
  if (!deletes) {
    change_add_image(&bulk->body, change, change->new_row);
    buffer_add_string(&bulk->body, "\n");
  }
  return true;
}

static void fail(struct bulk *bulk, const struct error *why) {
  if (!bulk->failed)
    *bulk->error = *why;
  bulk->failed = true;
}

/* Why an item was not accepted: the row is at fault only if its content is. */
static enum failure failure_of_item(json_int_t status, const char *type) {
  static const char *const ABOUT_THE_INDEX[] = {"validation_exception", "invalid_index_name_exception",
                                                "index_closed_exception"};
  for (size_t i = 0; type != NULL && i < sizeof ABOUT_THE_INDEX / sizeof ABOUT_THE_INDEX[0]; i++)
    if (strcmp(type, ABOUT_THE_INDEX[i]) == 0)
      return FAILURE_FATAL;
  if (status == 401 || status == 403 || status == 404) /* no right, a block because the disk is full, no index */
    return FAILURE_FATAL;
  return status == 429 || status >= 500 || status < 400 ? FAILURE_RETRY : FAILURE_REFUSED;
}

/* An engine quotes values in its reasons, even those with a NUL; "" when it gives none. */
static void show_reason(const json_t *cause, char shown[static SHOWN_REASON]) {
  const json_t *reason = json_object_get(cause, "reason");
  http_target_show(json_string_value(reason), json_string_length(reason), shown, SHOWN_REASON);
}

/* Reads the result of one item; false when the answer has none. */
static bool read_item(struct bulk *bulk, size_t index, const json_t *item) {
  struct verdict *verdict = &bulk->push->verdicts[index];
  const char *kind;
  json_t *outcome;
  json_object_foreach((json_t *)item, kind, outcome) {
    json_int_t status = json_integer_value(json_object_get(outcome, "status"));
    const json_t *cause = json_object_get(outcome, "error");
    const char *type = json_string_value(json_object_get(cause, "type"));
    char reason[SHOWN_REASON];
    char deeper[SHOWN_REASON];
    show_reason(cause, reason);
    show_reason(json_object_get(cause, "caused_by"), deeper);
    struct error why;
    /* 409: the index has the same or a newer version. 404: what is to be deleted does not exist. */
    if ((status >= 200 && status < 300) || status == 409 || (status == 404 && strcmp(kind, "delete") == 0)) {
      char answer[VERDICT_ANSWER_SIZE];
      const char *result = json_string_value(json_object_get(outcome, "result"));
      text_print(answer, sizeof answer, "%d %s", (int)status, result != NULL ? result : status == 409 ? "newer" : "");
      verdict_answer(verdict, answer);
      verdict->kind = VERDICT_DELIVERED;
      return true;
    }
    enum failure kind_of_failure = failure_of_item(status, type);
    error_set(&why, kind_of_failure, "%s", reason[0] != '\0' ? reason : "the item was refused");
    snprintf(why.sqlstate, sizeof why.sqlstate, "%d", (int)status);
    if (deeper[0] != '\0' || type != NULL)
      error_detail(&why, "%s", deeper[0] != '\0' ? deeper : type);
    if (status == 404)
      error_hint(&why, "create the index, or route the table with --create");
    if (kind_of_failure != FAILURE_REFUSED) {
      fail(bulk, &why);
    } else if (bulk->is_only[index]) {
      verdict_refuse(verdict, &why);
    } else { /* an older change of the row may be accepted: each is tried alone */
      if (!bulk->failed)
        *bulk->error = why;
      bulk->refused = true;
    }
    return true;
  }
  return false;
}

/* NULL: it is no JSON, or *no_memory says that there was no memory for it. */
static json_t *parse_answer(const struct http_request *request, bool *no_memory) {
  *no_memory = false;
  if (request->answer.data == NULL)
    return NULL;
  return json_tree_parse(request->answer.data, request->answer.length, JSON_ALLOW_NUL, no_memory);
}

/*
 * An answer that has "items" but cannot be parsed may quote a row that breaks it: that row must be found, or the batch
 * would be sent for ever. Any other answer, such as a proxy's error page, tells nothing about rows.
 */
static bool not_understood(const struct http_request *request, struct error *error) {
  bool speaks_of_items = request->answer.data != NULL && strstr(request->answer.data, "\"items\"") != NULL;
  error_set(error, speaks_of_items ? FAILURE_REFUSED : FAILURE_RETRY, "the answer is not one to a bulk request");
  return http_target_quote(request, error);
}

static bool read_answer(struct bulk *bulk, const struct http_request *request, struct error *error) {
  bool no_memory;
  json_t *answer = parse_answer(request, &no_memory);
  if (no_memory)
    return error_set(error, FAILURE_RETRY, "out of memory for an answer");
  const json_t *items = json_object_get(answer, "items");
  bool ok = json_is_array(items) && json_array_size(items) == bulk->item_count;
  for (size_t i = 0; ok && i < bulk->item_count; i++)
    ok = read_item(bulk, bulk->items[i], json_array_get(items, i));
  json_decref(answer);
  return ok || bulk->failed ? ok : not_understood(request, error);
}

/* Sends the items in the first `length` bytes: all, or all but the last if more bytes follow. */
static bool send_bulk(struct bulk *bulk, size_t length, struct error *error) {
  struct http_request request = {.status = 0};
  struct buffer sent = bulk->body;
  sent.length = length;
  struct search_question question = {
      .method = "POST", .path = "/_bulk", .content = "application/x-ndjson", .body = &sent, .push = bulk->push};
  if (bulk->item_count == 0)
    return true;
  bool ok = buffer_ok(&bulk->body, "a request", error) && push_is_still_ours(bulk->push, error) &&
            search_ask(bulk->search, &question, &request, error);
  if (ok && (request.status < 200 || request.status >= 300)) {
    ok = http_target_failed(&request, error);
    /* 413: a smaller request may pass. Any other refusal of the request as a whole is not about a row. */
    if (error->kind == FAILURE_REFUSED && request.status != 413)
      error->kind = FAILURE_FATAL;
  } else if (ok) {
    ok = read_answer(bulk, &request, error);
  }
  http_request_release(&request);
  bulk->item_count = 0;
  return ok;
}

static bool mark_rows(struct bulk *bulk, struct error *error) {
  const struct push *push = bulk->push;
  size_t *next = calloc(push->count, sizeof *next);
  if (next == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  bool ok = row_order_chain(push->changes, push->count, next, error);
  for (size_t i = 0; i < push->count; i++)
    bulk->is_only[i] = true;
  for (size_t i = 0; ok && i < push->count; i++) {
    bulk->is_last[i] = next[i] == LATEST_NONE;
    if (next[i] != LATEST_NONE)
      bulk->is_only[i] = bulk->is_only[next[i]] = false;
  }
  free(next);
  return ok;
}

/* The older changes of a row in the push share the result of its last one. */
static bool settle_older(struct bulk *bulk, struct error *error) {
  const struct push *push = bulk->push;
  size_t *next = calloc(push->count, sizeof *next);
  if (next == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  bool ok = row_order_chain(push->changes, push->count, next, error);
  for (size_t i = push->count; ok && i-- > 0;)
    if (next[i] != LATEST_NONE && push->verdicts[next[i]].kind == VERDICT_DELIVERED) {
      push->verdicts[i].kind = VERDICT_DELIVERED;
      verdict_answer(&push->verdicts[i], "superseded by a later change");
    }
  free(next);
  return ok;
}

static bool push_rows(struct search *search, const struct push *push, struct error *error) {
  struct bulk bulk = {.search = search,
                      .push = push,
                      .is_last = calloc(push->count, sizeof(bool)),
                      .is_only = calloc(push->count, sizeof(bool)),
                      .items = calloc(push->count, sizeof(size_t)),
                      .error = error};
  buffer_init(&bulk.body, SEARCH_BODY_LIMIT);
  bool ok = false;
  bool settled = false;
  if (bulk.is_last == NULL || bulk.is_only == NULL || bulk.items == NULL) {
    error_set(error, FAILURE_RETRY, "out of memory");
    goto done;
  }
  ok = mark_rows(&bulk, error);
  for (size_t i = 0; ok && i < push->count; i++) {
    const struct change *change = push->changes[i];
    if (!bulk.is_last[i])
      continue;
    ok = search_prepare_index(search, change->route, error);
    if (!ok && error->kind == FAILURE_TABLE)
      push_hold(push, change->capture, error);
    if (ok && (change->key == NULL || (change->operation != OPERATION_DELETE && change->new_row == NULL)))
      ok = error_set(error, FAILURE_REFUSED, "change %lld has no key or no row", (long long)change->id);
    size_t before = bulk.body.length;
    ok = ok && add_item(&bulk, i, error);
    if (ok && before > 0 && (int64_t)bulk.body.length > search->bulk_bytes) {
      ok = send_bulk(&bulk, before, error) && !bulk.failed;
      buffer_drop(&bulk.body, before);
    }
    if (ok)
      bulk.items[bulk.item_count++] = i;
  }
  ok = ok && send_bulk(&bulk, bulk.body.length, error);
  struct error ignored;
  settled = settle_older(&bulk, &ignored);

done:
  free(bulk.is_last);
  free(bulk.is_only);
  free(bulk.items);
  buffer_release(&bulk.body);
  return ok && settled && !bulk.failed && !bulk.refused;
}

/* Deletes all documents of an index. *left: whether some were written at the same moment, and are still there. */
static bool empty_index(struct search *search, const struct push *push, const struct buffer *name, bool *left,
                        struct error *error) {
  struct http_request request = {.status = 0};
  struct buffer path;
  struct buffer body;
  buffer_init(&path, SEARCH_NAME_LIMIT);
  buffer_init(&body, SEARCH_NAME_LIMIT);
  buffer_add_string(&body, "{\"query\":{\"match_all\":{}}}");
  /* A query sees the latest writes only after a refresh. */
  buffer_add_format(&path, "/%s/_refresh?ignore_unavailable=true", name->data);
  bool ok = buffer_ok(&body, "a request", error) && buffer_ok(&path, "a URL", error) &&
            search_ask_well(search, &(struct search_question){.method = "POST", .path = path.data}, NULL, error) &&
            push_is_still_ours(push, error);
  if (ok) {
    buffer_clear(&path);
    buffer_add_format(&path, "/%s/_delete_by_query?conflicts=proceed&refresh=true&ignore_unavailable=true", name->data);
    struct search_question question = {.method = "POST", .path = path.data, .body = &body, .push = push};
    ok = buffer_ok(&path, "a URL", error) && search_ask_well(search, &question, &request, error);
  }
  bool no_memory = false;
  json_t *answer = ok ? parse_answer(&request, &no_memory) : NULL;
  if (ok && answer == NULL)
    ok = error_set(error, FAILURE_RETRY, no_memory ? "out of memory" : "the answer to a deletion is not JSON");
  *left = ok && (json_integer_value(json_object_get(answer, "version_conflicts")) > 0 ||
                 json_array_size(json_object_get(answer, "failures")) > 0);
  json_decref(answer);
  http_request_release(&request);
  buffer_release(&path);
  buffer_release(&body);
  return ok;
}

/* A barrier: nothing else of the target is in flight. But somebody else may write there, or a process that has lost the
 * source may have done so just now. */
static bool push_truncate(struct search *search, const struct push *push, struct error *error) {
  const struct change *change = push->changes[0];
  if (change->new_row != NULL) {
    error_set(error, FAILURE_REFUSED, "a partition of %s was truncated, and an index does not know which rows it held",
              change->route->relation);
    text_print(error->sqlstate, sizeof error->sqlstate, "0A000"); /* so nothing waits until it is retried */
    return false;
  }
  if (!search_prepare_index(search, change->route, error))
    return error->kind == FAILURE_TABLE ? push_hold(push, change->capture, error) : false;
  struct buffer name;
  buffer_init(&name, SEARCH_NAME_LIMIT);
  search_add_index(search, change->route, &name);
  bool ok = buffer_ok(&name, "an index's name", error);
  bool left = true;
  for (int n = 0; ok && left && n < MOST_DELETIONS; n++)
    ok = empty_index(search, push, &name, &left, error);
  if (ok && left)
    ok = error_set(error, FAILURE_RETRY, "documents of index %s are written while it is emptied", name.data);
  buffer_release(&name);
  return ok;
}

static bool search_push(void *handle, const struct push *push, struct error *error) {
  struct search *search = handle;
  if (push->changes[0]->operation == OPERATION_TRUNCATE) {
    verdict_answer(&push->verdicts[0], "emptied");
    return push_truncate(search, push, error);
  }
  return push_rows(search, push, error);
}

static bool search_test(void *handle, struct buffer *answer, struct error *error) {
  struct search *search = handle;
  struct http_request request = {.status = 0};
  bool ok = search_ask(search, &(struct search_question){.method = "GET", .path = "/"}, &request, error);
  if (ok && request.status != 200)
    ok = http_target_failed(&request, error);
  bool no_memory = false;
  json_t *about = ok ? parse_answer(&request, &no_memory) : NULL;
  const json_t *version = json_object_get(about, "version");
  const char *number = json_string_value(json_object_get(version, "number"));
  const char *name = json_string_value(json_object_get(version, "distribution"));
  if (no_memory)
    ok = error_set(error, FAILURE_RETRY, "out of memory for an answer");
  else if (ok && number == NULL)
    ok = error_set(error, FAILURE_FATAL, "the server is not a search engine");
  if (ok) {
    buffer_add_format(answer, "%s %s", name != NULL ? name : "elasticsearch", number);
    search_warn_of_memory(search, answer);
  }
  json_decref(about);
  http_request_release(&request);
  return ok;
}

static const struct target_url URLS[] = {
    {"elasticsearch+https", "elasticsearch+https://HOST:9200/INDEX",
     "an index of Elasticsearch; without one, each table's own"},
    {"elasticsearch+http", NULL, NULL},
    {"opensearch+https", "opensearch+https://HOST:9200/INDEX", "the same of OpenSearch"},
    {"opensearch+http", NULL, NULL},
    {NULL, NULL, NULL},
};

static const struct target_url_rule URL_RULES[] = {
    TARGET_HTTP_RULE_HOST,
    {.pattern = "[?#]",
     .forbidden = true,
     .problem = "has parameters, which the URL of a search engine cannot have",
     .hint = "Write SCHEME://HOST:9200/INDEX or SCHEME://HOST:9200/."},
    {.pattern = "^[a-z+]+://[^/]+/(.*/)?(?![^/]*\\$\\{)[^/]*[A-Z][^/]*$",
     .forbidden = true,
     .problem = "names an index with a capital letter",
     .hint = "A search engine accepts only lower-case names of indexes."},
    {.pattern = NULL},
};

const struct target_kind TARGET_SEARCH = {.name = "search",
                                          .urls = URLS,
                                          .url_rules = URL_RULES,
                                          .options = OPTIONS,
                                          .keeps_state = true,
                                          .overwrites = true,
                                          .wants_details = search_wants_details,
                                          .opens_alone = true,
                                          .test_sends_nothing = true,
                                          .open = search_open,
                                          .push = search_push,
                                          .test = search_test,
                                          .close = search_close};
