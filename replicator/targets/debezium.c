/*
 * Where rowrelay has no such value: source.lsn is the change's id, which grows like one (of one row's changes the later
 * has the larger), source.xmin is null. source.ts_ms is when the row was written, not when its
 * transaction committed. A backfilled row is an `r` of an incremental snapshot. Values are as PostgreSQL writes them as
 * JSON.
 */
#include "targets/debezium.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/version.h"
#include "targets/change_json.h"

static const char *letter_of(enum operation operation) {
  switch (operation) {
  case OPERATION_INSERT:
    return "c";
  case OPERATION_DELETE:
    return "d";
  case OPERATION_TRUNCATE:
    return "t";
  case OPERATION_SNAPSHOT:
    return "r";
  default:
    return "u";
  }
}

/* Reads a number behind a letter ('\0': none). */
static bool read_number(const char **text, char before, int *number) {
  const char *c = *text;
  char *end;
  if (before != '\0' && *c++ != before)
    return false;
  if (*c < '0' || *c > '9')
    return false;
  *number = (int)strtol(c, &end, 10);
  *text = end;
  return true;
}

/* Milliseconds since 1970 of a timestamp such as 2026-01-02T03:04:05.6+00:00; false: it is none. */
static bool read_time(const char *text, int64_t *milliseconds) {
  struct tm day = {.tm_isdst = 0};
  const char *c = text;
  if (c == NULL || !read_number(&c, '\0', &day.tm_year) || !read_number(&c, '-', &day.tm_mon) ||
      !read_number(&c, '-', &day.tm_mday) || !read_number(&c, 'T', &day.tm_hour) ||
      !read_number(&c, ':', &day.tm_min) || !read_number(&c, ':', &day.tm_sec))
    return false;
  day.tm_year -= 1900;
  day.tm_mon -= 1;
  int64_t fraction = 0;
  int64_t unit = 100;
  if (*c == '.')
    for (c++; *c >= '0' && *c <= '9'; c++, unit /= 10)
      fraction += unit * (*c - '0');
  char sign = *c;
  int hours = 0;
  int minutes = 0;
  if ((sign == '+' || sign == '-') && read_number(&c, sign, &hours) && !read_number(&c, ':', &minutes))
    minutes = 0;
  int64_t ahead = (int64_t)(sign == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
  *milliseconds = 1000 * ((int64_t)timegm(&day) - ahead) + fraction;
  return true;
}

/* Appends the part of a name up to a dot, without its quotes, and gives where the next one begins; NULL: nowhere. */
static const char *add_part(struct buffer *part, const char *name) {
  bool quoted = false;
  for (; *name != '\0' && (quoted || *name != '.'); name++) {
    if (*name != '"') {
      buffer_add(part, name, 1);
    } else if (quoted && name[1] == '"') {
      buffer_add(part, name, 1);
      name++;
    } else {
      quoted = !quoted;
    }
  }
  return *name == '.' ? name + 1 : NULL;
}

void debezium_add_table_name(struct buffer *buffer, const char *relation) {
  struct buffer name;
  buffer_init(&name, 2048);
  for (const char *rest = relation; rest != NULL;) {
    buffer_add_string(&name, rest == relation ? "" : ".");
    rest = add_part(&name, rest);
  }
  buffer_add_json_string(buffer, name.data != NULL ? name.data : "");
  buffer_inherit(buffer, &name);
  buffer_release(&name);
}

/* "schema":"shop","table":"orders" */
static void add_table(struct buffer *buffer, const char *relation) {
  struct buffer schema;
  struct buffer table;
  buffer_init(&schema, 1024);
  buffer_init(&table, 1024);
  const char *rest = add_part(&schema, relation);
  if (rest != NULL)
    add_part(&table, rest);
  buffer_add_string(buffer, ",\"schema\":");
  buffer_add_json_string(buffer, rest != NULL ? schema.data : "");
  buffer_add_string(buffer, ",\"table\":");
  buffer_add_json_string(buffer, rest != NULL ? table.data : schema.data);
  buffer_inherit(buffer, &schema);
  buffer_inherit(buffer, &table);
  buffer_release(&schema);
  buffer_release(&table);
}

static void add_source(struct buffer *buffer, const struct change *change, const struct debezium *debezium,
                       int64_t now) {
  int64_t written = now;
  read_time(change->captured_at, &written);
  buffer_add_string(buffer, "{\"version\":\"rowrelay " ROWRELAY_VERSION "\",\"connector\":\"postgresql\",\"name\":");
  buffer_add_json_string(buffer, debezium->name);
  buffer_add_format(buffer, ",\"ts_ms\":%lld,\"snapshot\":\"%s\",\"db\":", (long long)written,
                    change->operation == OPERATION_SNAPSHOT ? "incremental" : "false");
  buffer_add_json_string(buffer, debezium->database);
  buffer_add_format(buffer, ",\"sequence\":\"[null,\\\"%lld\\\"]\"", (long long)change->id);
  add_table(buffer, change->route->relation);
  buffer_add_format(buffer, ",\"txId\":%s,\"lsn\":%lld,\"xmin\":null}",
                    change->txid != NULL && change->txid[0] != '\0' ? change->txid : "null", (long long)change->id);
}

void debezium_add_transaction_id(struct buffer *buffer, const struct debezium_mark *mark) {
  buffer_add_format(buffer, "\"id\":\"%s:%lld-%lld\"", mark->txid, (long long)mark->first_id, (long long)mark->last_id);
}

static void add_mark(struct buffer *buffer, const struct debezium_mark *mark) {
  if (mark == NULL) {
    buffer_add_string(buffer, "null");
    return;
  }
  buffer_add_string(buffer, "{");
  debezium_add_transaction_id(buffer, mark);
  buffer_add_format(buffer, ",\"total_order\":%lld,\"data_collection_order\":%lld}", (long long)mark->total_order,
                    (long long)mark->table_order);
}

void debezium_add_envelope(struct buffer *buffer, const struct change *change, const struct debezium *debezium,
                           const struct debezium_writing *writing) {
  bool is_truncate = change->operation == OPERATION_TRUNCATE;
  buffer_add_string(buffer, "{\"before\":");
  writing->add_row(buffer, change, is_truncate ? NULL : change->old_row);
  buffer_add_string(buffer, ",\"after\":");
  writing->add_row(buffer, change, is_truncate || change->operation == OPERATION_DELETE ? NULL : change->new_row);
  buffer_add_string(buffer, ",\"source\":");
  add_source(buffer, change, debezium, writing->now);
  buffer_add_format(buffer, ",\"op\":\"%s\",\"ts_ms\":%lld,\"transaction\":", letter_of(change->operation),
                    (long long)writing->now);
  add_mark(buffer, debezium->mark);
  buffer_add_string(buffer, "}");
}

void debezium_add_json(struct buffer *buffer, const struct change *change, const struct debezium *debezium,
                       int64_t now) {
  debezium_add_envelope(buffer, change, debezium, &(struct debezium_writing){.now = now, .add_row = change_add_image});
}
