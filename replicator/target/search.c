/*
 * Elasticsearch and OpenSearch: rows and documents as they are now, one index for each table, by bulk requests.
 *
 * Each item carries a version that grows with every change of its row: the change's id, or for a document, which is
 * read anew each time, the number of the claim. The index refuses what is older than what it has, so a process that
 * comes too late does no harm, and what is sent twice is there once.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "change_json.h"
#include "clock.h"
#include "http_options.h"
#include "interrupt.h"
#include "latest.h"
#include "target.h"

#define BULK_BYTES ((int64_t)5 * 1024 * 1024) /* of a request, unless option bulk_bytes says otherwise */
#define BODY_LIMIT ((size_t)1200 * 1024 * 1024)
#define ANSWER_LIMIT ((size_t)256 * 1024 * 1024)
#define NAME_LIMIT ((size_t)64 * 1024)
#define LONGEST_ID 512 /* bytes */

struct search {
  const struct settings *settings;
  char *base;  /* URL without the index, and without a slash at its end */
  char *index; /* that the URL names; NULL: one for each table, called like it */
  int64_t bulk_bytes;
  bool gzip;
  struct http_target http;
  int *prepared; /* captures whose index has been looked at */
  size_t prepared_count;
};

static bool search_wants_details(const struct settings *settings) {
  (void)settings;
  return false;
}

static bool search_keeps_state(const struct settings *settings) {
  (void)settings;
  return true;
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

/* Takes the URL apart: what stands behind its last slash is the index. */
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
  bool ok = read_url(search, url, error) && http_target_init(&search->http, settings, 1, error);
  if (!ok) {
    search_close(search);
    return false;
  }
  search->bulk_bytes = http_target_number(&search->http, "bulk_bytes", BULK_BYTES);
  search->gzip = http_target_flag(&search->http, "gzip");
  *handle = search;
  return true;
}

/* ---- requests -------------------------------------------------------------------------------------------------- */

static bool compress_body(const struct buffer *body, struct buffer *packed, struct error *error) {
  z_stream stream = {.next_in = (unsigned char *)body->data, .avail_in = (uInt)body->length};
  unsigned char piece[16384];
  int status = deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY); /* 16: as gzip */
  if (status != Z_OK)
    return error_set(error, FAILURE_RETRY, "out of memory");
  do {
    stream.next_out = piece;
    stream.avail_out = sizeof piece;
    status = deflate(&stream, Z_FINISH);
    buffer_add(packed, piece, sizeof piece - stream.avail_out);
  } while (status == Z_OK);
  deflateEnd(&stream);
  return (status == Z_STREAM_END || error_set(error, FAILURE_RETRY, "a request cannot be compressed")) &&
         buffer_ok(packed, "a request", error);
}

/*
 * Sends one request and waits for its answer, whatever that is; false when there is none. `content` is the body's type,
 * NULL: no body.
 */
static bool ask(struct search *search, const char *method, const char *path, const char *content,
                const struct buffer *body, struct http_request *request, struct error *error) {
  struct buffer url;
  struct buffer packed;
  struct curl_slist *headers = NULL;
  bool ok = true;
  bool pack = search->gzip && body != NULL;
  char content_line[128];
  snprintf(content_line, sizeof content_line, "Content-Type: %s", content != NULL ? content : "application/json");
  const char *lines[] = {"Expect:", "Accept: application/json", content_line, "Content-Encoding: gzip"};
  buffer_init(&url, NAME_LIMIT);
  buffer_init(&packed, BODY_LIMIT);
  buffer_add_format(&url, "%s%s", search->base, path);
  ok = buffer_ok(&url, "a URL", error) && (!pack || compress_body(body, &packed, error));
  if (ok) {
    headers = http_target_headers(&search->http, lines, pack ? 4 : body != NULL ? 3 : 2);
    ok = headers != NULL || error_set(error, FAILURE_RETRY, "out of memory");
  }
  if (ok) {
    const struct buffer *sent = pack ? &packed : body;
    *request = (struct http_request){.method = method,
                                     .url = url.data,
                                     .headers = headers,
                                     .body = sent != NULL ? sent->data : NULL,
                                     .body_length = sent != NULL ? sent->length : 0,
                                     .answer_limit = ANSWER_LIMIT};
    ok = http_start(search->http.http, request, error);
  }
  if (ok && http_wait(search->http.http, clock_now() + search->settings->push_timeout) == NULL) {
    http_cancel(search->http.http, request);
    ok = interrupted() ? error_set(error, FAILURE_STOP, "told to leave")
                       : error_set(error, FAILURE_RETRY, "no answer within %lld s",
                                   (long long)(search->settings->push_timeout / 1000));
  }
  if (ok && request->status == 0)
    ok = http_target_failed(request, error);
  curl_slist_free_all(headers);
  buffer_release(&url);
  buffer_release(&packed);
  return ok;
}

/* An answer that must be a success. */
static bool ask_well(struct search *search, const char *method, const char *path, const struct buffer *body,
                     struct error *error) {
  struct http_request request = {.status = 0};
  bool ok = ask(search, method, path, NULL, body, &request, error);
  if (ok && (request.status < 200 || request.status >= 300)) {
    ok = http_target_failed(&request, error);
    if (error->kind == FAILURE_REFUSED) /* nothing of a row was sent */
      error->kind = FAILURE_FATAL;
  }
  http_request_release(&request);
  return ok;
}

/* ---- indexes --------------------------------------------------------------------------------------------------- */

/*
 * The name of a change's index: the URL's, or the table's with nothing in it that an index may not be called, as
 * schema/functions/index_name.sql makes it, which sees to it that no two tables have the same.
 */
static void add_index(const struct search *search, const struct route *route, struct buffer *name) {
  if (search->index != NULL) {
    buffer_add_string(name, search->index);
    return;
  }
  for (const char *c = route->into_table; *c != '\0'; c++) {
    unsigned char byte = (unsigned char)*c;
    if (byte == '"' || (byte & 0xC0) == 0x80) /* of a letter that takes several bytes, the first counts */
      continue;
    char letter = isalnum(byte) || byte == '.' || byte == '-' || byte == '_' ? (char)tolower(byte) : '_';
    if (name->length == 0 && (letter == '_' || letter == '-' || letter == '.'))
      continue;
    buffer_add(name, &letter, 1);
  }
}

#define NUMBER(TYPE) "{\"type\":\"" TYPE "\",\"ignore_malformed\":true}"
#define TEXT "{\"type\":\"text\",\"fields\":{\"keyword\":{\"type\":\"keyword\",\"ignore_above\":256}}}"
#define KEYWORD "{\"type\":\"keyword\",\"ignore_above\":8191}"

/*
 * What a column is to the engine; NULL: let it see for itself. What PostgreSQL can store and a field cannot hold (NaN,
 * infinity, years before Christ) is in the document all the same, and not found by that field.
 */
static const char *mapping_of(const char *type) {
  static const struct {
    const char *type; /* what its name begins with */
    const char *mapping;
  } MAPPINGS[] = {
      {"smallint", NUMBER("short")},
      {"integer", NUMBER("integer")},
      {"bigint", NUMBER("long")},
      {"numeric", NUMBER("double")},
      {"real", NUMBER("float")},
      {"double precision", NUMBER("double")},
      {"boolean", "{\"type\":\"boolean\"}"},
      {"date", NUMBER("date")},
      {"timestamp", NUMBER("date")},
      {"text", TEXT},
      {"character", TEXT},
      {"citext", TEXT},
      {"json", "{\"type\":\"object\",\"enabled\":false}"},
      {"jsonb", "{\"type\":\"object\",\"enabled\":false}"},
      {"bytea", "{\"type\":\"keyword\",\"index\":false,\"doc_values\":false}"},
      {"uuid", KEYWORD},
      {"name", KEYWORD},
      {"time", KEYWORD},
      {"interval", KEYWORD},
      {"money", KEYWORD},
      {"inet", KEYWORD},
      {"cidr", KEYWORD},
      {"macaddr", KEYWORD},
      {"bit", KEYWORD},
  };
  for (size_t i = 0; i < sizeof MAPPINGS / sizeof MAPPINGS[0]; i++) {
    size_t length = strlen(MAPPINGS[i].type);
    /* "date" is not "daterange" */
    if (strncmp(type, MAPPINGS[i].type, length) == 0 && !isalnum((unsigned char)type[length]) && type[length] != '_')
      return MAPPINGS[i].mapping;
  }
  return NULL;
}

/* {"mappings": …} of a table's columns; an array's elements are mapped like its type. */
static bool add_mappings(const struct route *route, struct buffer *body, struct error *error) {
  json_t *columns = json_loads(route->columns, 0, NULL);
  if (columns == NULL)
    return error_set(error, FAILURE_RETRY, "the columns of %s cannot be read", route->relation);
  size_t i;
  json_t *column;
  size_t mapped = 0;
  /* Text that looks like a date in the first row need not in the second. */
  buffer_add_string(body, "{\"mappings\":{\"date_detection\":false,\"properties\":{");
  json_array_foreach(columns, i, column) {
    const char *mapping = mapping_of(json_string_value(json_object_get(column, "type")));
    if (mapping == NULL)
      continue;
    buffer_add_string(body, mapped++ == 0 ? "" : ",");
    buffer_add_json_string(body, json_string_value(json_object_get(column, "name")));
    buffer_add_format(body, ":%s", mapping);
  }
  buffer_add_string(body, "}}}");
  json_decref(columns);
  return buffer_ok(body, "a mapping", error);
}

static bool create_index(struct search *search, const struct route *route, const char *path, struct error *error) {
  struct http_request request = {.status = 0};
  struct buffer body;
  buffer_init(&body, BODY_LIMIT);
  bool ok = add_mappings(route, &body, error) && ask(search, "PUT", path, NULL, &body, &request, error);
  /* Somebody else may have been faster. */
  bool exists = ok && request.answer.data != NULL && strstr(request.answer.data, "resource_already_exists") != NULL;
  if (ok && !exists && (request.status < 200 || request.status >= 300)) {
    ok = http_target_failed(&request, error);
    error->kind = error->kind == FAILURE_REFUSED ? FAILURE_FATAL : error->kind;
  }
  http_request_release(&request);
  buffer_release(&body);
  return ok;
}

/* Makes a route's index, if that is wished and it is not there. */
static bool prepare_index(struct search *search, const struct route *route, struct error *error) {
  for (size_t i = 0; i < search->prepared_count; i++)
    if (search->prepared[i] == route->capture)
      return true;
  if (route->keyless) {
    error_set(error, FAILURE_FATAL, "table %s has no key to tell its documents apart in an index", route->relation);
    return error_hint(error, "run: rowrelay capture %s --key COLUMNS", route->relation);
  }
  struct buffer path;
  struct http_request request = {.status = 0};
  buffer_init(&path, NAME_LIMIT);
  buffer_add_string(&path, "/");
  struct buffer name;
  buffer_init(&name, NAME_LIMIT);
  add_index(search, route, &name);
  buffer_add_string(&path, name.data != NULL ? name.data : "");
  buffer_release(&name);
  bool ok = buffer_ok(&path, "an index's name", error);
  if (ok && route->create_table && route->columns != NULL) {
    ok = ask(search, "GET", path.data, NULL, NULL, &request, error);
    if (ok && request.status == 404)
      ok = create_index(search, route, path.data, error);
    else if (ok && (request.status < 200 || request.status >= 300))
      ok = http_target_failed(&request, error);
    http_request_release(&request);
  }
  int *grown = ok ? realloc(search->prepared, (search->prepared_count + 1) * sizeof *grown) : NULL;
  if (grown != NULL) {
    search->prepared = grown;
    search->prepared[search->prepared_count++] = route->capture;
  }
  buffer_release(&path);
  return ok;
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
  bool refused; /* something that has to be tried in parts */
  bool failed;  /* the target is at fault */
  struct error *error;
};

/* A key that is too long for an id is its beginning and a digest. */
static void add_id(struct buffer *body, const char *key) {
  size_t length = strlen(key);
  if (length <= LONGEST_ID) {
    buffer_add_json_string(body, key);
    return;
  }
  uint64_t hash = UINT64_C(14695981039346656037);
  for (const char *c = key; *c != '\0'; c++)
    hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
  char id[LONGEST_ID + 1];
  size_t kept = LONGEST_ID - 48;
  while (kept > 0 && ((unsigned char)key[kept] & 0xC0) == 0x80)
    kept--;
  snprintf(id, sizeof id, "%.*s~%zu~%016llx", (int)kept, key, length, (unsigned long long)hash);
  buffer_add_json_string(body, id);
}

static void add_item(struct bulk *bulk, size_t index) {
  const struct change *change = bulk->push->changes[index];
  bool deletes = change->operation == OPERATION_DELETE;
  struct buffer name;
  buffer_init(&name, NAME_LIMIT);
  add_index(bulk->search, change->route, &name);
  buffer_add_format(&bulk->body, "{\"%s\":{\"_index\":", deletes ? "delete" : "index");
  buffer_add_json_string(&bulk->body, name.data);
  buffer_release(&name);
  buffer_add_string(&bulk->body, ",\"_id\":");
  add_id(&bulk->body, change->key);
  buffer_add_format(&bulk->body, ",\"version\":%lld,\"version_type\":\"external\"}}\n",
                    (long long)(change->route->document ? bulk->push->token : change->id));
  if (!deletes) {
    change_add_image(&bulk->body, change, change->new_row);
    buffer_add_string(&bulk->body, "\n");
  }
}

static void fail(struct bulk *bulk, const struct error *why) {
  if (!bulk->failed)
    *bulk->error = *why;
  bulk->failed = true;
}

/* Whose fault it is that an item was not accepted: the row's only if it is about what is in it. */
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

/* What became of one item; false when nothing is said of it. */
static bool read_item(struct bulk *bulk, size_t index, const json_t *item) {
  struct verdict *verdict = &bulk->push->verdicts[index];
  const char *kind;
  json_t *outcome;
  json_object_foreach((json_t *)item, kind, outcome) {
    json_int_t status = json_integer_value(json_object_get(outcome, "status"));
    const json_t *cause = json_object_get(outcome, "error");
    const char *type = json_string_value(json_object_get(cause, "type"));
    const char *reason = json_string_value(json_object_get(cause, "reason"));
    const char *deeper = json_string_value(json_object_get(json_object_get(cause, "caused_by"), "reason"));
    struct error why;
    /* 409: what is there is newer, or the same. 404: what is to go is not there. */
    if ((status >= 200 && status < 300) || status == 409 || (status == 404 && strcmp(kind, "delete") == 0)) {
      char answer[ANSWER_SIZE];
      const char *result = json_string_value(json_object_get(outcome, "result"));
      snprintf(answer, sizeof answer, "%d %s", (int)status, result != NULL ? result : status == 409 ? "newer" : "");
      verdict_answer(verdict, answer);
      verdict->kind = VERDICT_DELIVERED;
      return true;
    }
    enum failure kind_of_failure = failure_of_item(status, type);
    error_set(&why, kind_of_failure, "%s", reason != NULL ? reason : "the item was refused");
    snprintf(why.sqlstate, sizeof why.sqlstate, "%d", (int)status);
    if (deeper != NULL || type != NULL)
      error_detail(&why, "%s", deeper != NULL ? deeper : type);
    if (status == 404)
      error_hint(&why, "make the index, or route the table with --create");
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

static bool read_answer(struct bulk *bulk, const struct http_request *request, struct error *error) {
  json_error_t at;
  json_t *answer =
      request->answer.data != NULL ? json_loadb(request->answer.data, request->answer.length, 0, &at) : NULL;
  const json_t *items = json_object_get(answer, "items");
  bool ok = json_is_array(items) && json_array_size(items) == bulk->item_count;
  for (size_t i = 0; ok && i < bulk->item_count; i++)
    ok = read_item(bulk, bulk->items[i], json_array_get(items, i));
  json_decref(answer);
  return ok || error_set(error, FAILURE_RETRY, "the answer is not that to a bulk request");
}

/* Sends the items of the first `length` bytes, which are all but one if something stands behind them. */
static bool send_bulk(struct bulk *bulk, size_t length, struct error *error) {
  struct http_request request = {.status = 0};
  struct buffer sent = bulk->body;
  sent.length = length;
  if (bulk->item_count == 0)
    return true;
  bool ok = buffer_ok(&bulk->body, "a request", error) &&
            ask(bulk->search, "POST", "/_bulk", "application/x-ndjson", &sent, &request, error);
  if (ok && (request.status < 200 || request.status >= 300)) {
    ok = http_target_failed(&request, error);
    /* 413: it may take a smaller one; all else that is said of the request as a whole is not about a row. */
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
  bool ok = latest_chain(push->changes, push->count, next, error);
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

/* What a row's last change became, its older ones in the push have become, too. */
static bool settle_older(struct bulk *bulk, struct error *error) {
  const struct push *push = bulk->push;
  size_t *next = calloc(push->count, sizeof *next);
  if (next == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  bool ok = latest_chain(push->changes, push->count, next, error);
  for (size_t i = push->count; ok && i-- > 0;)
    if (next[i] != LATEST_NONE && push->verdicts[next[i]].kind == VERDICT_DELIVERED) {
      push->verdicts[i].kind = VERDICT_DELIVERED;
      verdict_answer(&push->verdicts[i], "a later change stands for it");
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
  buffer_init(&bulk.body, BODY_LIMIT);
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
    ok = prepare_index(search, change->route, error);
    if (ok && (change->key == NULL || (change->operation != OPERATION_DELETE && change->new_row == NULL)))
      ok = error_set(error, FAILURE_REFUSED, "change %lld has no key or no row", (long long)change->id);
    size_t before = bulk.body.length;
    if (ok)
      add_item(&bulk, i);
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

/* A barrier: nothing else of the target is on its way. */
static bool push_truncate(struct search *search, const struct change *change, struct error *error) {
  if (change->new_row != NULL)
    return error_set(error, FAILURE_REFUSED, "a partition of %s was truncated, and an index does not know its rows",
                     change->route->relation);
  if (!prepare_index(search, change->route, error))
    return false;
  struct buffer name;
  struct buffer path;
  struct buffer body;
  buffer_init(&name, NAME_LIMIT);
  buffer_init(&path, NAME_LIMIT);
  buffer_init(&body, NAME_LIMIT);
  add_index(search, change->route, &name);
  buffer_add_string(&body, "{\"query\":{\"match_all\":{}}}");
  /* What was written last is not seen by a query before a refresh. */
  buffer_add_format(&path, "/%s/_refresh?ignore_unavailable=true", name.data);
  bool ok = buffer_ok(&path, "a URL", error) && ask_well(search, "POST", path.data, NULL, error);
  if (ok) {
    buffer_clear(&path);
    buffer_add_format(&path, "/%s/_delete_by_query?conflicts=proceed&refresh=true&ignore_unavailable=true", name.data);
    ok = buffer_ok(&path, "a URL", error) && ask_well(search, "POST", path.data, &body, error);
  }
  buffer_release(&name);
  buffer_release(&path);
  buffer_release(&body);
  return ok;
}

static bool search_push(void *handle, const struct push *push, struct error *error) {
  struct search *search = handle;
  if (push->changes[0]->operation == OPERATION_TRUNCATE) {
    verdict_answer(&push->verdicts[0], "emptied");
    return push_truncate(search, push->changes[0], error);
  }
  return push_rows(search, push, error);
}

static bool search_test(void *handle, struct buffer *answer, struct error *error) {
  struct search *search = handle;
  struct http_request request = {.status = 0};
  bool ok = ask(search, "GET", "/", NULL, NULL, &request, error);
  if (ok && request.status != 200)
    ok = http_target_failed(&request, error);
  json_t *about =
      ok && request.answer.data != NULL ? json_loadb(request.answer.data, request.answer.length, 0, NULL) : NULL;
  const json_t *version = json_object_get(about, "version");
  const char *number = json_string_value(json_object_get(version, "number"));
  const char *name = json_string_value(json_object_get(version, "distribution"));
  if (ok && number == NULL)
    ok = error_set(error, FAILURE_FATAL, "what answers there is no search engine");
  if (ok)
    buffer_add_format(answer, "%s %s", name != NULL ? name : "elasticsearch", number);
  json_decref(about);
  http_request_release(&request);
  return ok;
}

#define SEARCH_KIND(NAME, SCHEME)                                                                                      \
  const struct target_kind NAME = {.scheme = (SCHEME),                                                                 \
                                   .wants_details = search_wants_details,                                              \
                                   .keeps_state = search_keeps_state,                                                  \
                                   .opens_alone = true,                                                                \
                                   .open = search_open,                                                                \
                                   .push = search_push,                                                                \
                                   .test = search_test,                                                                \
                                   .close = search_close}

SEARCH_KIND(TARGET_ELASTICSEARCH_HTTP, "elasticsearch+http");
SEARCH_KIND(TARGET_ELASTICSEARCH_HTTPS, "elasticsearch+https");
SEARCH_KIND(TARGET_OPENSEARCH_HTTP, "opensearch+http");
SEARCH_KIND(TARGET_OPENSEARCH_HTTPS, "opensearch+https");
