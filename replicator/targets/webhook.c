/*
 * Webhooks: each change is a CloudEvent that is sent to a URL, alone or with others in a batch, signed according to
 * Standard Webhooks.
 *
 * Several requests are in flight at once. Of each row one change at a time: the next is sent when the one before has
 * been accepted, so a receiver sees each row's changes in order, whatever happens to other rows. What was accepted
 * stays so, even if a later request fails.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/interrupt.h"
#include "common/url.h"
#include "postgres/number.h"
#include "postgres/result.h"
#include "queries.h"
#include "targets/change_json.h"
#include "targets/cloudevent.h"
#include "targets/http.h"
#include "targets/row_order.h"
#include "targets/signature.h"
#include "targets/target.h"
#include "targets/tls_options.h"

#define BODY_LIMIT ((size_t)1200 * 1024 * 1024)
/* A batch of this many bytes gets no further event. */
#define BATCH_BYTES ((size_t)1024 * 1024)
/* Memory that a slot keeps for its next body. Bytes. */
#define KEPT_BYTES ((size_t)256 * 1024)
/* How much of an answer is read. Bytes. */
#define ANSWER_LIMIT ((size_t)4096)

/* A request and the changes that it carries. */
struct slot {
  struct http_request request;
  struct buffer body;
  struct curl_slist *headers;
  size_t *indexes; /* of the push's changes */
  size_t count;
  bool busy;
};

struct webhook {
  const struct settings *settings;
  struct source *source;
  char *url;
  const char *method;
  const char *body; /* an SQL expression instead of the event; NULL: none */
  size_t events;    /* in one request at most */
  struct http_target http;
  struct signer signer;
  bool is_signed;
  struct slot *slots; /* http.concurrency of them */
};

/* A push on its way. */
struct sending {
  struct webhook *webhook;
  const struct push *push;
  size_t *next;  /* change of the same row that comes after */
  size_t *ready; /* heap of indexes: changes whose predecessors have all been accepted */
  size_t ready_count;
  PGresult *bodies; /* one for each change, with option body */
  int64_t stop_at;  /* no request begins after this; clock_now() */
  bool *in_doubt;   /* changes that were sent, and may have arrived */
  bool failed;      /* the target failed: no further request begins */
  struct error *error;
  bool refused_together; /* a batch was refused: which of its events is at fault is unknown */
};

static const struct target_option OWN_OPTIONS[] = {
    {.name = "concurrency",
     .help = "most requests in flight for each worker",
     .number = "a number of requests in flight",
     .least = 1,
     .most = 256,
     .initial = "16"},
    {.name = "events",
     .help = "most events in a request; more than one form a CloudEvents batch",
     .number = "a number of events in a request",
     .least = 1,
     .most = 1000,
     .initial = "1"},
    {.name = "method", .help = "method of each request", .choices = "POST|PUT|PATCH", .initial = "POST"},
    {.name = "body",
     .help = "body to send instead of the event, from op, key, relation, old_row, new_row, actor, ...",
     .pattern = "\\S",
     .words = "an SQL expression"},
    {.name = "secret",
     .help = "key to sign each request with (Standard Webhooks)",
     .pattern = "^\\s*" TARGET_OPTION_VARIABLE "(\\s+" TARGET_OPTION_VARIABLE ")*\\s*$",
     .words = "${NAME}, taken from the environment of rowrelay run; several during a change of keys",
     .secret = true},
    TARGET_OPTION_END,
};
static const struct target_option *const OPTIONS[] = {TARGET_HTTP_OPTIONS, TARGET_TLS_OPTIONS, OWN_OPTIONS, NULL};

static bool webhook_wants_details(const struct settings *settings) {
  (void)settings;
  return true;
}

static void webhook_close(void *handle) {
  struct webhook *webhook = handle;
  if (webhook == NULL)
    return;
  for (int i = 0; webhook->slots != NULL && i < webhook->http.concurrency; i++) {
    struct slot *slot = &webhook->slots[i];
    http_request_release(&slot->request);
    buffer_release(&slot->body);
    curl_slist_free_all(slot->headers);
    free(slot->indexes);
  }
  free(webhook->slots);
  http_target_release(&webhook->http);
  free(webhook->url);
  free(webhook);
}

static bool read_secrets(struct webhook *webhook, struct error *error) {
  const char *secret = target_values_text(&webhook->http.values, "secret");
  if (secret == NULL)
    return true;
  struct buffer filled;
  buffer_init(&filled, URL_LIMIT);
  webhook->is_signed = true;
  bool ok = text_fill_in(secret, "option secret", &filled, error) && signer_read(&webhook->signer, filled.data, error);
  buffer_release(&filled);
  return ok;
}

static bool make_slots(struct webhook *webhook, struct error *error) {
  webhook->slots = calloc((size_t)webhook->http.concurrency, sizeof *webhook->slots);
  bool ok = webhook->slots != NULL;
  for (int i = 0; ok && i < webhook->http.concurrency; i++) {
    struct slot *slot = &webhook->slots[i];
    buffer_init(&slot->body, BODY_LIMIT);
    slot->indexes = calloc(webhook->events, sizeof *slot->indexes);
    ok = slot->indexes != NULL;
  }
  return ok || error_set(error, FAILURE_RETRY, "out of memory");
}

static bool webhook_open(void **handle, const struct settings *settings, const char *url, struct source *source,
                         struct error *error) {
  struct webhook *webhook = calloc(1, sizeof *webhook);
  if (webhook == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  webhook->settings = settings;
  webhook->source = source;
  webhook->url = strdup(url);
  bool ok = webhook->url != NULL || error_set(error, FAILURE_RETRY, "out of memory");
  ok = ok && http_target_init(&webhook->http, settings, OPTIONS, error);
  if (ok) {
    webhook->method = target_values_text(&webhook->http.values, "method");
    webhook->body = target_values_text(&webhook->http.values, "body");
    webhook->events = (size_t)target_values_number(&webhook->http.values, "events");
  }
  ok = ok && read_secrets(webhook, error) && make_slots(webhook, error);
  if (!ok) {
    webhook_close(webhook);
    return false;
  }
  *handle = webhook;
  return true;
}

/* ---- what is ready to be sent ---------------------------------------------------------------------------------- */

static void ready_add(struct sending *sending, size_t index) {
  size_t at = sending->ready_count++;
  while (at > 0 && sending->ready[(at - 1) / 2] > index) {
    sending->ready[at] = sending->ready[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  sending->ready[at] = index;
}

/* The oldest. */
static size_t ready_take(struct sending *sending) {
  size_t oldest = sending->ready[0];
  size_t last = sending->ready[--sending->ready_count];
  size_t at = 0;
  for (;;) {
    size_t child = 2 * at + 1;
    if (child >= sending->ready_count)
      break;
    if (child + 1 < sending->ready_count && sending->ready[child + 1] < sending->ready[child])
      child++;
    if (sending->ready[child] >= last)
      break;
    sending->ready[at] = sending->ready[child];
    at = child;
  }
  sending->ready[at] = last;
  return oldest;
}

/* All changes of the row before this one are accepted. */
static void make_ready(struct sending *sending, size_t index) {
  struct error why;
  if (sending->bodies == NULL || !PQgetisnull(sending->bodies, (int)index, 0)) {
    ready_add(sending, index);
    return;
  }
  error_set(&why, FAILURE_REFUSED, "option body returned null for this change");
  verdict_refuse(&sending->push->verdicts[index], &why);
}

static bool find_order(struct sending *sending, struct error *error) {
  const struct push *push = sending->push;
  if (!row_order_chain(push->changes, push->count, sending->next, error))
    return false;
  bool *has_older = calloc(push->count, sizeof *has_older);
  if (has_older == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  for (size_t i = 0; i < push->count; i++)
    if (sending->next[i] != LATEST_NONE)
      has_older[sending->next[i]] = true;
  for (size_t i = 0; i < push->count; i++)
    if (!has_older[i])
      make_ready(sending, i);
  free(has_older);
  return true;
}

/* ---- bodies of option body ------------------------------------------------------------------------------------ */

/* Has the source make the body of each change. The user's expression may fail for all rows, or for some. */
static bool make_bodies(struct sending *sending, struct error *error) {
  static const struct query BEGIN = {.text = "savepoint webhook"};
  static const struct query END = {.text = "release savepoint webhook"};
  static const struct query BEGIN_ALONE = {.text = "begin read only"};
  static const struct query END_ALONE = {.text = "commit"};
  struct webhook *webhook = sending->webhook;
  const struct push *push = sending->push;
  struct pgconn *connection = source_connection(webhook->source);
  bool leased = webhook->settings->leased; /* then no transaction is open */
  struct buffer changes;
  struct buffer text;
  buffer_init(&changes, BODY_LIMIT);
  buffer_init(&text, URL_LIMIT);
  for (size_t i = 0; i < push->count; i++) {
    buffer_add_string(&changes, i == 0 ? "[" : ",");
    change_add_json(&changes, push->changes[i], webhook->settings->source_id);
  }
  buffer_add_string(&changes, "]");
  buffer_add_format(&text,
                    "select (%s)::text from rows from (json_to_recordset($1::json) as (change_id bigint, source uuid, "
                    "relation text, op text, key text, captured_at timestamptz, txid text, actor text, old_row json, "
                    "new_row json)) with ordinality as c order by c.ordinality",
                    webhook->body);
  bool ok = buffer_ok(&changes, "a batch", error) && buffer_ok(&text, "option body", error);
  if (ok) {
    pgconn_set_deadline(connection, webhook->settings->push_timeout);
    const struct query query = {.text = text.data};
    PGresult *replies[3] = {NULL};
    pgconn_pipeline_begin(connection);
    pgconn_pipeline_add(connection, leased ? &BEGIN_ALONE : &BEGIN, NO_VALUES);
    pgconn_pipeline_add(connection, &query, VALUES(changes.data));
    pgconn_pipeline_add(connection, leased ? &END_ALONE : &END, NO_VALUES);
    ok = pgconn_pipeline_run(connection, replies, 3, error);
    sending->bodies = replies[1];
    PQclear(replies[0]);
    PQclear(replies[2]);
    if (!ok && pgconn_alive(connection)) {
      struct error lost;
      error_hint(error, "raised at the source by the expression in option body");
      const char *undo = leased ? "rollback" : "rollback to savepoint webhook; release savepoint webhook";
      if (!pgconn_script(connection, undo, &lost))
        *error = lost;
    }
  }
  buffer_release(&changes);
  buffer_release(&text);
  return ok;
}

/* ---- requests -------------------------------------------------------------------------------------------------- */

static void add_body(struct sending *sending, struct slot *slot, size_t index) {
  struct webhook *webhook = sending->webhook;
  if (sending->bodies != NULL) {
    buffer_add_string(&slot->body, PQgetvalue(sending->bodies, (int)index, 0));
    return;
  }
  if (webhook->events > 1)
    buffer_add_string(&slot->body, slot->count == 0 ? "[" : ",");
  cloudevent_add_json(&slot->body, sending->push->changes[index], webhook->settings->source_id);
}

/* FNV-1a, for documents and batches, which have no number of their own. */
static uint64_t hash_text(uint64_t hash, const char *text) {
  for (; *text != '\0'; text++)
    hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
  return hash;
}

/* The id of the request, which is the same when it is sent again. */
static void make_id(const struct sending *sending, const struct slot *slot, char *id, size_t size) {
  const char *source_id = sending->webhook->settings->source_id;
  const struct change *first = sending->push->changes[slot->indexes[0]];
  if (slot->count == 1 && !first->route->document) {
    snprintf(id, size, "%s-%lld", source_id, (long long)first->id);
    return;
  }
  uint64_t hash = UINT64_C(14695981039346656037);
  for (size_t i = 0; i < slot->count; i++) {
    const struct change *change = sending->push->changes[slot->indexes[i]];
    hash = hash_text(hash, number(change->id).text);
    hash = hash_text(hash, change->key != NULL ? change->key : "");
  }
  snprintf(id, size, "%s-%lld-%016llx", source_id, (long long)first->id, (unsigned long long)hash);
}

/*
 * The trace that a request is part of: that of the application's transaction, if all its changes are of one; else the
 * batch's own, which names the others (see trace.h). NULL or "": none.
 */
static const char *find_trace(const struct sending *sending, const struct slot *slot) {
  const char *first = sending->push->changes[slot->indexes[0]]->traceparent;
  for (size_t i = 1; first != NULL && i < slot->count; i++) {
    const char *other = sending->push->changes[slot->indexes[i]]->traceparent;
    if (other == NULL || strcmp(first, other) != 0)
      first = NULL;
  }
  return first != NULL ? first : sending->push->traceparent;
}

static bool make_headers(struct sending *sending, struct slot *slot, struct error *error) {
  struct webhook *webhook = sending->webhook;
  char id[96];
  char id_line[160];
  char time_line[64];
  char timestamp[24];
  struct buffer signature;
  buffer_init(&signature, 1024);
  make_id(sending, slot, id, sizeof id);
  snprintf(timestamp, sizeof timestamp, "%lld", (long long)time(NULL));
  snprintf(id_line, sizeof id_line, "webhook-id: %s", id);
  snprintf(time_line, sizeof time_line, "webhook-timestamp: %s", timestamp);
  buffer_add_string(&signature, "webhook-signature: ");
  struct message message = {.id = id, .timestamp = timestamp, .body = slot->body.data, .length = slot->body.length};
  if (webhook->is_signed)
    signer_sign(&webhook->signer, &message, &signature);
  const char *lines[] = {sending->bodies != NULL ? "Content-Type: application/json"
                         : webhook->events > 1   ? "Content-Type: application/cloudevents-batch+json"
                                                 : "Content-Type: application/cloudevents+json",
                         "Expect:",
                         id_line,
                         time_line,
                         NULL,
                         NULL};
  size_t count = 4;
  const char *traceparent = find_trace(sending, slot);
  char trace_line[80];
  snprintf(trace_line, sizeof trace_line, "traceparent: %s", traceparent != NULL ? traceparent : "");
  if (traceparent != NULL && traceparent[0] != '\0')
    lines[count++] = trace_line;
  if (webhook->is_signed)
    lines[count++] = signature.data;
  bool ok = buffer_ok(&signature, "a signature", error);
  curl_slist_free_all(slot->headers);
  slot->headers = NULL;
  if (ok) {
    slot->headers = http_target_headers(&webhook->http, lines, count);
    ok = slot->headers != NULL || error_set(error, FAILURE_RETRY, "out of memory");
  }
  buffer_release(&signature);
  return ok;
}

/* Fills a free slot with the oldest changes that are ready, and sends it. */
static bool send_next(struct sending *sending, struct slot *slot, struct error *error) {
  struct webhook *webhook = sending->webhook;
  slot->count = 0;
  buffer_clear(&slot->body);
  if (slot->body.capacity > KEPT_BYTES) {
    buffer_release(&slot->body);
    buffer_init(&slot->body, BODY_LIMIT);
  }
  while (sending->ready_count > 0 && slot->count < webhook->events && slot->body.length < BATCH_BYTES) {
    size_t index = ready_take(sending);
    add_body(sending, slot, index);
    slot->indexes[slot->count++] = index;
  }
  if (webhook->events > 1 && sending->bodies == NULL)
    buffer_add_string(&slot->body, "]");
  if (!buffer_ok(&slot->body, "a request", error) || !make_headers(sending, slot, error))
    return false;
  http_request_release(&slot->request);
  slot->request = (struct http_request){.method = webhook->method,
                                        .url = webhook->url,
                                        .headers = slot->headers,
                                        .body = slot->body.data,
                                        .body_length = slot->body.length,
                                        .answer_limit = ANSWER_LIMIT,
                                        .owner = slot,
                                        .may_send = sending->push->still_ours,
                                        .asked = sending->push->claimer};
  slot->busy = http_start(webhook->http.http, &slot->request, error);
  return slot->busy;
}

/* The changes of a request that was accepted. */
static void accepted(struct sending *sending, const struct slot *slot) {
  char answer[VERDICT_ANSWER_SIZE];
  http_target_answer(slot->request.status, answer);
  for (size_t i = 0; i < slot->count; i++) {
    size_t index = slot->indexes[i];
    sending->push->verdicts[index].kind = VERDICT_DELIVERED;
    verdict_answer(&sending->push->verdicts[index], answer);
    if (sending->next[index] != LATEST_NONE)
      make_ready(sending, sending->next[index]);
  }
}

static void fail(struct sending *sending, const struct error *why) {
  int retry_after = sending->failed ? sending->error->retry_after : 0;
  /* Of several failures the first is reported; but FAILURE_GONE always is. */
  if (!sending->failed || why->kind == FAILURE_GONE)
    *sending->error = *why;
  if (retry_after < why->retry_after)
    retry_after = why->retry_after;
  sending->error->retry_after = retry_after;
  sending->failed = true;
}

static void take_answer(struct sending *sending, struct slot *slot) {
  struct error why;
  slot->busy = false;
  if (slot->request.status >= 200 && slot->request.status < 300) {
    accepted(sending, slot);
    return;
  }
  http_target_failed(&slot->request, &why);
  if (why.kind != FAILURE_REFUSED) {
    for (size_t i = 0; !slot->request.unsent && i < slot->count; i++)
      sending->in_doubt[slot->indexes[i]] = true;
    fail(sending, &why);
  } else if (slot->count == 1) {
    verdict_refuse(&sending->push->verdicts[slot->indexes[0]], &why);
  } else {
    sending->refused_together = true;
    if (!sending->failed)
      *sending->error = why;
    for (size_t i = 0; i < slot->count; i++) /* unlike those that were never sent */
      sending->push->verdicts[slot->indexes[i]].kind = VERDICT_REFUSED;
  }
}

static bool may_begin(const struct sending *sending) {
  return !sending->failed && !interrupted() && clock_now() < sending->stop_at;
}

static bool begin_requests(struct sending *sending) {
  struct webhook *webhook = sending->webhook;
  bool any = false;
  for (int i = 0; i < webhook->http.concurrency; i++) {
    struct slot *slot = &webhook->slots[i];
    struct error why;
    if (!slot->busy && sending->ready_count > 0 && may_begin(sending) &&
        (!push_is_still_ours(sending->push, &why) || !send_next(sending, slot, &why)))
      fail(sending, &why);
    any = any || slot->busy;
  }
  return any;
}

/* Handles requests that were not answered in time. */
static void cancel_rest(struct sending *sending) {
  struct webhook *webhook = sending->webhook;
  struct error why;
  bool any = false;
  for (int i = 0; i < webhook->http.concurrency; i++) {
    struct slot *slot = &webhook->slots[i];
    if (slot->busy) {
      http_cancel(webhook->http.http, &slot->request);
      for (size_t n = 0; !slot->request.unsent && n < slot->count; n++)
        sending->in_doubt[slot->indexes[n]] = true;
    }
    any = any || slot->busy;
    slot->busy = false;
  }
  if (!any)
    return;
  if (interrupted())
    error_set(&why, FAILURE_STOP, "interrupted");
  else
    error_set(&why, FAILURE_RETRY, "no answer within %lld s", (long long)(webhook->settings->push_timeout / 1000));
  fail(sending, &why);
}

static bool run(struct sending *sending) {
  const struct push *push = sending->push;
  struct webhook *webhook = sending->webhook;
  int64_t began = clock_now();
  /* The claim must be settled before others take it over: the second half of the time is left for answers. */
  sending->stop_at = began + webhook->settings->push_timeout / 2;
  while (begin_requests(sending)) {
    struct http_request *done = http_wait(webhook->http.http, began + webhook->settings->push_timeout);
    if (done == NULL) {
      cancel_rest(sending);
      break;
    }
    take_answer(sending, done->owner);
  }
  for (size_t i = 0; i < push->count; i++) {
    struct verdict *verdict = &push->verdicts[i];
    if (verdict->kind == VERDICT_REFUSED && verdict->why == NULL)
      verdict->kind = VERDICT_NONE; /* one of a batch: the halves are tried apart */
    else if (verdict->kind == VERDICT_NONE && !sending->in_doubt[i])
      verdict->kind = VERDICT_LATER; /* it was not sent */
  }
  return !sending->failed && !sending->refused_together;
}

static bool webhook_push(void *handle, const struct push *push, struct error *error) {
  struct webhook *webhook = handle;
  struct sending sending = {.webhook = webhook,
                            .push = push,
                            .next = calloc(push->count, sizeof(size_t)),
                            .ready = calloc(push->count, sizeof(size_t)),
                            .in_doubt = calloc(push->count, sizeof(bool)),
                            .error = error};
  bool ok = sending.next != NULL && sending.ready != NULL && sending.in_doubt != NULL;
  if (ok)
    ok = (webhook->body == NULL || make_bodies(&sending, error)) && find_order(&sending, error) && run(&sending);
  else
    error_set(error, FAILURE_RETRY, "out of memory");
  PQclear(sending.bodies);
  free(sending.next);
  free(sending.ready);
  free(sending.in_doubt);
  return ok;
}

/* Sends one event that says that it is a test. */
static bool webhook_test(void *handle, struct buffer *answer, struct error *error) {
  struct webhook *webhook = handle;
  const struct route route = {.relation = "test"};
  const struct change change = {.operation = OPERATION_INSERT, .route = &route, .new_row = "{\"test\":true}"};
  const struct change *changes[] = {&change};
  struct verdict verdict = {.kind = VERDICT_NONE};
  const struct push push = {.changes = changes, .count = 1, .verdicts = &verdict};
  const char *body = webhook->body;
  webhook->body = NULL;
  bool ok = webhook_push(webhook, &push, error);
  webhook->body = body;
  if (ok && verdict.kind == VERDICT_REFUSED) {
    *error = *verdict.why;
    ok = false;
  }
  free(verdict.why);
  if (ok)
    buffer_add_format(answer, "the receiver answered %ld", webhook->slots[0].request.status);
  return ok;
}

static const struct target_url URLS[] = {
    {"https", "https://HOST/PATH", "a webhook: each change is sent as a CloudEvent"},
    {"http", NULL, NULL},
    {NULL, NULL, NULL},
};

static const struct target_url_rule URL_RULES[] = {TARGET_HTTP_RULE_HOST, {.pattern = NULL}};

const struct target_kind TARGET_WEBHOOK = {.name = "webhook",
                                           .urls = URLS,
                                           .url_rules = URL_RULES,
                                           .options = OPTIONS,
                                           .opens_alone = true,
                                           .wants_details = webhook_wants_details,
                                           .open = webhook_open,
                                           .push = webhook_push,
                                           .test = webhook_test,
                                           .close = webhook_close};
