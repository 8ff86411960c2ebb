#include "monitor/listener.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/json.h"
#include "monitor/console_answer.h"
#include "postgres/result.h"
#include "queries.h"

#define EVENTS "text/event-stream"
#define LINES "application/x-ndjson"

/* Changes that are read at a time. */
#define FIRST_READ 100
#define LARGEST_READ 1000
/* Seconds that whoever asks for lines may wait for them. */
#define USUAL_WAIT 30
#define LONGEST_WAIT 60
/* Milliseconds after which a stream is told that it is alive. Proxies close what is silent for a minute. */
#define KEEP_ALIVE 15000
#define RECONNECT_AFTER "retry: 3000\n\n"
/* A change that is larger must be read by SQL. */
#define LARGEST_PIECE ((size_t)128 * 1024 * 1024)
/* What is around a change, at most. Bytes. */
#define SPARE ((size_t)100)
#define LONGEST_LIST ((size_t)64 * 1024)

/* ---- what is asked for ----------------------------------------------------------------------------------------- */

/* The names of `table=a,b&table=c`; a comma within double quotes belongs to a name. */
static bool add_tables(void *context, const char *value) {
  struct buffer *array = context;
  struct buffer name;
  bool quoted = false;
  buffer_init(&name, LONGEST_LIST);
  for (const char *c = value;; c++) {
    quoted ^= *c == '"';
    if (*c != '\0' && (*c != ',' || quoted)) {
      buffer_add(&name, c, 1);
      continue;
    }
    if (name.length > 0) {
      buffer_add_string(array, array->length > 0 ? "," : "{");
      buffer_add_array_string(array, name.data);
    }
    buffer_inherit(array, &name);
    buffer_clear(&name);
    if (*c == '\0')
      break;
  }
  buffer_release(&name);
  return !array->overflow;
}

/* False: the parameter is no such number. */
static bool read_number(const struct server_request *request, const char *name, int most, int *number) {
  const char *text = console_given(request, name);
  char *end;
  if (text == NULL)
    return true;
  long value = strtol(text, &end, 10);
  *number = value > most ? most : (int)value;
  return *end == '\0' && value >= 0;
}

static const char *where_to_begin(const struct server_request *request) {
  const char *last = server_header(request, "Last-Event-ID");
  const char *since = server_parameter(request, "since");
  return last != NULL && last[0] != '\0' ? last : since != NULL ? since : "now";
}

static bool read_wish(struct listener *listener, const struct server_request *request, struct server_answer *answer) {
  const char *accept = server_header(request, "Accept");
  int wait = USUAL_WAIT;
  struct buffer tables;
  buffer_init(&tables, LONGEST_LIST);
  listener->is_stream = accept != NULL && strstr(accept, EVENTS) != NULL;
  listener->most = FIRST_READ;
  if (!read_number(request, "wait", LONGEST_WAIT, &wait) ||
      !read_number(request, "max", LARGEST_READ, &listener->most) || listener->most == 0) {
    console_error(answer, MHD_HTTP_BAD_REQUEST, "max or wait is not a number that it can be",
                  "max is a number of changes up to 1000, wait a number of seconds up to 60");
    return false;
  }
  server_each_parameter(request, "table", add_tables, &tables);
  if (tables.length > 0)
    buffer_add_string(&tables, "}");
  bool ok = !tables.overflow;
  if (ok)
    listener->tables = tables.data;
  else
    buffer_release(&tables);
  listener->cursor = strdup(where_to_begin(request));
  listener->spoken_at = clock_now();
  listener->until = listener->spoken_at + INT64_C(1000) * wait;
  if (!ok || listener->cursor == NULL)
    console_error(answer, MHD_HTTP_BAD_REQUEST, "too many tables", "leave table out to listen to all that you may see");
  return ok && listener->cursor != NULL;
}

struct listener *listener_new(const struct server_request *request, struct exchange *exchange,
                              const struct token *token, struct server_answer *answer) {
  struct listener *listener = calloc(1, sizeof *listener);
  if (listener == NULL) {
    console_error(answer, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory", NULL);
    return NULL;
  }
  listener->exchange = exchange;
  listener->token = *token;
  if (read_wish(listener, request, answer))
    return listener;
  listener_free(listener);
  return NULL;
}

void listener_free(struct listener *listener) {
  free(listener->tables);
  free(listener->relations);
  free(listener->cursor);
  free(listener);
}

static int compare_texts(const char *one, const char *other) {
  return strcmp(one != NULL ? one : "", other != NULL ? other : "");
}

bool listener_is_behind(const struct listener *listener) {
  return !listener->was_read || listener->has_more;
}

int listener_compare(const struct listener *one, const struct listener *other) {
  int order = (int)listener_is_behind(one) - (int)listener_is_behind(other);
  order = order != 0 ? order : strcmp(one->token.grant, other->token.grant);
  order = order != 0 ? order : compare_texts(one->relations, other->relations);
  if (one->relations == NULL || other->relations == NULL)
    order = order != 0 ? order : compare_texts(one->tables, other->tables);
  order = order != 0 ? order : strcmp(one->cursor, other->cursor);
  order = order != 0 ? order : (one->is_stream > other->is_stream) - (one->is_stream < other->is_stream);
  return order != 0 ? order : (one->most > other->most) - (one->most < other->most);
}

bool listener_is_ready(const struct listener *listener) {
  return exchange_is_ready(listener->exchange);
}

/* ---- what is told ---------------------------------------------------------------------------------------------- */

/* The last row is a cursor alone where there are no more changes. */
static bool is_complete(const struct listener_news *news) {
  return news->count == PQntuples(news->changes) && PQgetisnull(news->changes, news->count - 1, HEARD_LINE);
}

static int count_changes(const struct listener_news *news) {
  return news->count - is_complete(news);
}

/*
 * An event's id is the cursor behind it, so that whoever was cut off anywhere goes on there. An id without data is no
 * event: a client keeps it and calls nobody.
 */
static void add_event(struct buffer *text, const char *cursor, const char *line) {
  buffer_add_format(text, "id: %s\n", cursor);
  if (line != NULL) {
    buffer_add_string(text, "data: ");
    json_add_line(text, line);
    buffer_add_string(text, "\n");
  }
  buffer_add_string(text, "\n");
}

/* The object, with the cursor as its first member. */
static void add_line(struct buffer *text, const char *cursor, const char *line) {
  buffer_add_format(text, "{\"next_cursor\":\"%s\"", cursor);
  if (line != NULL) {
    buffer_add_string(text, ", ");
    json_add_line(text, line + strspn(line, " {"));
  } else {
    buffer_add_string(text, "}");
  }
  buffer_add_string(text, "\n");
}

struct piece *listener_format(const struct listener *listener, struct listener_news *news, struct error *error) {
  const PGresult *changes = news->changes;
  struct buffer text;
  buffer_init(&text, LARGEST_PIECE);
  news->count = 0;
  for (int row = 0; row < PQntuples(changes); row++, news->count++) {
    const char *cursor = PQgetvalue(changes, row, HEARD_NEXT_CURSOR);
    size_t length = strlen(cursor) + (size_t)PQgetlength(changes, row, HEARD_LINE) + SPARE;
    if (row > 0 && length > LARGEST_PIECE - text.length)
      break;
    (listener->is_stream ? add_event : add_line)(&text, cursor, result_text(changes, row, HEARD_LINE));
  }
  return piece_new(&text, error);
}

static void begin(struct listener *listener) {
  struct server_answer answer = {.type = listener->is_stream ? EVENTS "; charset=utf-8" : LINES,
                                 .header = {.name = "X-Accel-Buffering", .value = "no"}}; /* nginx would collect it */
  buffer_init(&answer.body, sizeof RECONNECT_AFTER);
  if (listener->is_stream)
    buffer_add_string(&answer.body, RECONNECT_AFTER);
  listener->has_begun = true;
  exchange_begin(listener->exchange, &answer, listener->is_stream);
}

static void give(struct listener *listener, struct piece *piece) {
  if (!listener->has_begun)
    begin(listener);
  exchange_give(listener->exchange, piece, listener->has_more);
  listener->spoken_at = clock_now();
}

/* A stream whose changes are large reads fewer at a time: those that are read and left out cost the source the same. */
static void adapt(struct listener *listener, const struct listener_news *news) {
  int count = count_changes(news);
  if (result_int(news->changes, 0, HEARD_FOUND) > news->count)
    listener->most = 2 * count;
  else if (!is_complete(news) && 2 * listener->most <= LARGEST_READ)
    listener->most *= 2;
}

bool listener_take(struct listener *listener, const struct listener_news *news, struct piece *piece) {
  char *cursor = strdup(PQgetvalue(news->changes, news->count - 1, HEARD_NEXT_CURSOR));
  if (cursor == NULL)
    return false;
  bool is_first = !listener->was_read;
  free(listener->cursor);
  listener->cursor = cursor;
  listener->was_read = true;
  listener->has_more = !is_complete(news);
  bool due = count_changes(news) > 0 || (listener->is_stream ? is_first : listener->until <= clock_now());
  if (due)
    give(listener, piece);
  if (listener->is_stream)
    adapt(listener, news);
  else if (due)
    exchange_end(listener->exchange);
  return due && !listener->is_stream;
}

bool listener_is_told_to_wait(struct listener *listener, const struct error *error) {
  if (listener->is_stream) {
    if (!listener->has_begun) /* browsers try again after a lost connection, and not after an error */
      begin(listener);
  } else if (listener->until <= clock_now()) {
    listener_refuse(listener, MHD_HTTP_SERVICE_UNAVAILABLE, error, NULL);
    return true;
  }
  return false;
}

void listener_keep_alive(struct listener *listener) {
  struct error ignored;
  struct buffer text;
  if (!listener->has_begun || clock_now() - listener->spoken_at < KEEP_ALIVE || !listener_is_ready(listener))
    return;
  buffer_init(&text, LARGEST_PIECE);
  buffer_add_string(&text, ": alive\n");
  if (listener->was_read)
    add_event(&text, listener->cursor, NULL);
  else
    buffer_add_string(&text, "\n");
  struct piece *piece = piece_new(&text, &ignored);
  if (piece != NULL)
    give(listener, piece);
  piece_release(piece);
}

void listener_refuse(struct listener *listener, unsigned status, const struct error *error, const char *next_cursor) {
  struct error ignored;
  struct server_answer answer = {.status = 0};
  buffer_init(&answer.body, LARGEST_PIECE);
  console_error_at(&answer, status, error, next_cursor);
  if (status == MHD_HTTP_SERVICE_UNAVAILABLE) {
    answer.header.name = "Retry-After";
    answer.header.value = "3";
  }
  if (!listener->has_begun) {
    exchange_answer(listener->exchange, &answer);
    return;
  }
  struct buffer text;
  buffer_init(&text, LARGEST_PIECE);
  buffer_add_string(&text, "event: failure\ndata: ");
  buffer_add_string(&text, answer.body.data != NULL ? answer.body.data : "{}");
  buffer_add_string(&text, "\n\n");
  buffer_release(&answer.body);
  struct piece *piece = piece_new(&text, &ignored);
  if (piece != NULL)
    exchange_give(listener->exchange, piece, false);
  piece_release(piece);
  exchange_end(listener->exchange);
}
