#include "targets/debezium_transaction.h"

#include <stdlib.h>

/* ---- which transaction has which changes ----------------------------------------------------------------------- */

struct place {
  unsigned long long txid;
  int capture;
  size_t index;
};

static int compare_places(const void *one, const void *other) {
  const struct place *a = one;
  const struct place *b = other;
  if (a->txid != b->txid)
    return a->txid < b->txid ? -1 : 1;
  if (a->capture != b->capture)
    return a->capture < b->capture ? -1 : 1;
  return a->index < b->index ? -1 : a->index > b->index;
}

static bool is_of_one(const struct change *change) {
  return change->txid != NULL && change->txid[0] != '\0' && change->operation != OPERATION_SNAPSHOT &&
         change->operation != OPERATION_BARRIER && !change->route->document;
}

/* Those of a batch in the order of their last changes, in which they may have committed. */
static int compare_transactions(const void *one, const void *other) {
  const struct debezium_transaction *a = one;
  const struct debezium_transaction *b = other;
  return a->mark->last_id < b->mark->last_id ? -1 : a->mark->last_id > b->mark->last_id;
}

/* Places are sorted by transaction and table, and so are counted within both. */
static void divide(struct debezium_transactions *made, const struct place *sorted, size_t count) {
  int64_t in_table = 0;
  for (size_t i = 0; i < count; i++) {
    bool is_first = i == 0 || sorted[i].txid != sorted[i - 1].txid;
    if (is_first)
      made->all[made->count++] = (struct debezium_transaction){.first = i};
    in_table = is_first || sorted[i].capture != sorted[i - 1].capture ? 1 : in_table + 1;
    made->all[made->count - 1].behind = i + 1;
    made->places[i] = sorted[i].index;
    made->marks[sorted[i].index] =
        (struct debezium_mark){.txid = made->push->changes[sorted[i].index]->txid, .table_order = in_table};
  }
}

static int compare_indexes(const void *one, const void *other) {
  size_t a = *(const size_t *)one;
  size_t b = *(const size_t *)other;
  return a < b ? -1 : a > b;
}

/* Numbers the changes of each transaction in their order. False: there is no memory. */
static bool number_changes(struct debezium_transactions *made) {
  const struct change *const *changes = made->push->changes;
  size_t *indexes = calloc(made->push->count + 1, sizeof *indexes);
  if (indexes == NULL)
    return false;
  for (size_t t = 0; t < made->count; t++) {
    struct debezium_transaction *transaction = &made->all[t];
    size_t count = transaction->behind - transaction->first;
    for (size_t i = 0; i < count; i++)
      indexes[i] = made->places[transaction->first + i];
    qsort(indexes, count, sizeof *indexes, compare_indexes);
    for (size_t i = 0; i < count; i++) {
      struct debezium_mark *mark = &made->marks[indexes[i]];
      mark->total_order = (int64_t)i + 1;
      mark->first_id = changes[indexes[0]]->id;
      mark->last_id = changes[indexes[count - 1]]->id;
      transaction->mark = mark;
    }
  }
  free(indexes);
  return true;
}

bool debezium_transactions_init(struct debezium_transactions *transactions, const struct push *push,
                                struct error *error) {
  size_t count = 0;
  *transactions = (struct debezium_transactions){.push = push,
                                                 .marks = calloc(push->count + 1, sizeof *transactions->marks),
                                                 .places = calloc(push->count + 1, sizeof *transactions->places),
                                                 .all = calloc(push->count + 1, sizeof *transactions->all)};
  struct place *sorted = calloc(push->count + 1, sizeof *sorted);
  bool ok = sorted != NULL && transactions->marks != NULL && transactions->places != NULL && transactions->all != NULL;
  for (size_t i = 0; ok && i < push->count; i++)
    if (is_of_one(push->changes[i]))
      sorted[count++] = (struct place){
          .txid = strtoull(push->changes[i]->txid, NULL, 10), .capture = push->changes[i]->capture, .index = i};
  if (ok) {
    qsort(sorted, count, sizeof *sorted, compare_places);
    divide(transactions, sorted, count);
    ok = number_changes(transactions);
  }
  if (ok)
    qsort(transactions->all, transactions->count, sizeof *transactions->all, compare_transactions);
  free(sorted);
  if (ok)
    return true;
  debezium_transactions_release(transactions);
  return error_set(error, FAILURE_RETRY, "out of memory");
}

void debezium_transactions_release(struct debezium_transactions *transactions) {
  free(transactions->marks);
  free(transactions->places);
  free(transactions->all);
  *transactions = (struct debezium_transactions){.push = NULL};
}

const struct debezium_mark *debezium_transactions_mark(const struct debezium_transactions *transactions, size_t index) {
  const struct debezium_mark *mark = transactions->push != NULL ? &transactions->marks[index] : NULL;
  return mark != NULL && mark->txid != NULL ? mark : NULL;
}

/* ---- the messages ---------------------------------------------------------------------------------------------- */

#define NAME "io.debezium.connector.common.TransactionMetadata"
#define FIELD(TYPE, OPTIONAL, FIELD_NAME)                                                                              \
  "{\"type\":\"" TYPE "\",\"optional\":" OPTIONAL ",\"field\":\"" FIELD_NAME "\"}"

static const char KEY_SCHEMA[] = "{\"schema\":{\"type\":\"struct\",\"fields\":[" FIELD("string", "false", "id") //
    "],\"optional\":false,\"name\":\"" NAME "Key\",\"version\":1},\"payload\":";

static const char VALUE_SCHEMA[] =
    "{\"schema\":{\"type\":\"struct\",\"fields\":[" FIELD("string", "false", "status") "," //
    FIELD("string", "false", "id") "," FIELD("int64", "true", "event_count")               //
    ",{\"type\":\"array\",\"items\":{\"type\":\"struct\",\"fields\":["                     //
    FIELD("string", "false", "data_collection") "," FIELD("int64", "false", "event_count") //
    "],\"optional\":false,\"name\":\"event.collection\",\"version\":1},\"optional\":true,\"field\":"
    "\"data_collections\"}," FIELD("int64", "false", "ts_ms") //
    "],\"optional\":false,\"name\":\"" NAME "Value\",\"version\":1},\"payload\":";

void debezium_transaction_add_key(struct buffer *buffer, const struct debezium_boundary *boundary) {
  buffer_add_string(buffer, boundary->has_schema ? KEY_SCHEMA : "");
  buffer_add_string(buffer, "{");
  debezium_add_transaction_id(buffer, boundary->transaction->mark);
  buffer_add_string(buffer, boundary->has_schema ? "}}" : "}");
}

/* How many changes of which tables have arrived. */
static void add_counts(struct buffer *buffer, const struct debezium_transactions *transactions,
                       const struct debezium_transaction *transaction) {
  const struct push *push = transactions->push;
  struct buffer tables;
  long long total = 0;
  buffer_init(&tables, buffer->limit);
  for (size_t i = transaction->first; i < transaction->behind;) {
    const struct change *first = push->changes[transactions->places[i]];
    long long count = 0;
    for (; i < transaction->behind && push->changes[transactions->places[i]]->capture == first->capture; i++)
      count += push->verdicts[transactions->places[i]].kind == VERDICT_DELIVERED;
    if (count == 0)
      continue;
    buffer_add_string(&tables, total > 0 ? ",{\"data_collection\":" : "{\"data_collection\":");
    debezium_add_table_name(&tables, first->route->relation);
    buffer_add_format(&tables, ",\"event_count\":%lld}", count);
    total += count;
  }
  buffer_add_format(buffer, ",\"event_count\":%lld,\"data_collections\":[", total);
  if (tables.data != NULL)
    buffer_add_string(buffer, tables.data);
  buffer_add_string(buffer, "]");
  buffer_inherit(buffer, &tables);
  buffer_release(&tables);
}

void debezium_transaction_add_value(struct buffer *buffer, const struct debezium_transactions *transactions,
                                    const struct debezium_boundary *boundary) {
  buffer_add_string(buffer, boundary->has_schema ? VALUE_SCHEMA : "");
  buffer_add_format(buffer, "{\"status\":\"%s\",", boundary->is_end ? "END" : "BEGIN");
  debezium_add_transaction_id(buffer, boundary->transaction->mark);
  if (boundary->is_end)
    add_counts(buffer, transactions, boundary->transaction);
  else
    buffer_add_string(buffer, ",\"event_count\":null,\"data_collections\":null");
  buffer_add_format(buffer, boundary->has_schema ? ",\"ts_ms\":%lld}}" : ",\"ts_ms\":%lld}", (long long)boundary->now);
}
