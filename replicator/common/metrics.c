#include "common/metrics.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Microseconds, and the same in seconds as they are written. */
static const struct {
  int64_t microseconds;
  const char *seconds;
} BOUNDS[HISTOGRAM_BOUNDS] = {
    {1000, "0.001"},  {2500, "0.0025"}, {5000, "0.005"},  {10000, "0.01"},    {25000, "0.025"},    {50000, "0.05"},
    {100000, "0.1"},  {250000, "0.25"}, {500000, "0.5"},  {1000000, "1"},     {2500000, "2.5"},    {5000000, "5"},
    {10000000, "10"}, {30000000, "30"}, {60000000, "60"}, {300000000, "300"}, {3600000000, "3600"}};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list, whose members stay */
static struct meter *first = NULL;
static atomic_bool measures_delays = false;

struct meter *meter_of(const char *target) {
  pthread_mutex_lock(&lock);
  struct meter **place = &first;
  while (*place != NULL && strcmp((*place)->target, target) != 0)
    place = &(*place)->next;
  size_t size = strlen(target) + 1;
  if (*place == NULL && (*place = calloc(1, sizeof **place + size)) != NULL)
    memcpy((*place)->target, target, size);
  struct meter *meter = *place;
  pthread_mutex_unlock(&lock);
  return meter;
}

struct table_meter *meter_of_table(struct meter *meter, const char *table) {
  struct table_meter *found = atomic_load(&meter->tables);
  while (found != NULL && strcmp(found->table, table) != 0)
    found = found->next;
  if (found != NULL)
    return found;
  size_t size = strlen(table) + 1;
  pthread_mutex_lock(&lock);
  for (found = atomic_load(&meter->tables); found != NULL && strcmp(found->table, table) != 0;)
    found = found->next;
  if (found == NULL && (found = calloc(1, sizeof *found + size)) != NULL) {
    memcpy(found->table, table, size);
    found->next = atomic_load(&meter->tables);
    atomic_store(&meter->tables, found);
  }
  pthread_mutex_unlock(&lock);
  return found;
}

const struct meter *metrics_first(void) {
  pthread_mutex_lock(&lock);
  const struct meter *meters = first;
  pthread_mutex_unlock(&lock);
  return meters;
}

void metrics_totals(unsigned long long *delivered, unsigned long long *refused) {
  *delivered = 0;
  *refused = 0;
  for (const struct meter *meter = metrics_first(); meter != NULL; meter = meter->next) {
    *delivered += atomic_load(&meter->delivered);
    *refused += atomic_load(&meter->refused);
  }
}

const struct table_meter *meter_tables(const struct meter *meter) {
  return atomic_load(&meter->tables);
}

const char *histogram_bound(size_t bucket) {
  return BOUNDS[bucket].seconds;
}

void metrics_measure_delays(void) {
  atomic_store(&measures_delays, true);
}

bool metrics_wants_delays(void) {
  return atomic_load_explicit(&measures_delays, memory_order_relaxed);
}

void histogram_add(struct histogram *histogram, int64_t microseconds, uint64_t times) {
  if (microseconds < 0)
    microseconds = 0; /* the server's clock was set back */
  size_t i = 0;
  while (i < HISTOGRAM_BOUNDS && microseconds > BOUNDS[i].microseconds)
    i++;
  atomic_fetch_add_explicit(&histogram->counts[i], times, memory_order_relaxed);
  atomic_fetch_add_explicit(&histogram->microseconds, (uint64_t)microseconds * times, memory_order_relaxed);
}

/* ---- text ------------------------------------------------------------------------------------------------------ */

void metrics_describe(struct buffer *text, const char *name, const char *type, const char *help) {
  buffer_add_format(text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void metrics_label(struct buffer *text, const char *value) {
  buffer_add_string(text, "\"");
  for (const char *c = value; *c != '\0'; c++) {
    if (*c == '\n')
      buffer_add_string(text, "\\n");
    else if (*c == '"' || *c == '\\')
      buffer_add_format(text, "\\%c", *c);
    else
      buffer_add(text, c, 1);
  }
  buffer_add_string(text, "\"");
}

static void write_number(struct buffer *text, const char *name, const struct meter *meter, uint64_t value) {
  buffer_add_format(text, "%s{target=", name);
  metrics_label(text, meter->target);
  buffer_add_format(text, "} %" PRIu64 "\n", value);
}

static void write_bucket(struct buffer *text, const char *name, const struct meter *meter, const char *bound,
                         uint64_t count) {
  buffer_add_format(text, "%s_bucket{target=", name);
  metrics_label(text, meter->target);
  buffer_add_format(text, ",le=\"%s\"} %" PRIu64 "\n", bound, count);
}

static void write_histogram(struct buffer *text, const char *name, const struct meter *meter,
                            const struct histogram *histogram) {
  uint64_t count = 0;
  for (size_t i = 0; i < HISTOGRAM_BOUNDS; i++) {
    count += atomic_load(&histogram->counts[i]);
    write_bucket(text, name, meter, BOUNDS[i].seconds, count);
  }
  count += atomic_load(&histogram->counts[HISTOGRAM_BOUNDS]);
  write_bucket(text, name, meter, "+Inf", count);
  buffer_add_format(text, "%s_sum{target=", name);
  metrics_label(text, meter->target);
  uint64_t sum = atomic_load(&histogram->microseconds);
  buffer_add_format(text, "} %" PRIu64 ".%06" PRIu64 "\n%s_count{target=", sum / 1000000, sum % 1000000, name);
  metrics_label(text, meter->target);
  buffer_add_format(text, "} %" PRIu64 "\n", count);
}

/* What a meter has of a metric. */
#define EACH_METER for (const struct meter *meter = meters; meter != NULL; meter = meter->next)

static void write_numbers(struct buffer *text, const struct meter *meters) {
  metrics_describe(text, "rowrelay_changes_delivered_total", "counter", "Changes that this process has delivered.");
  EACH_METER
  write_number(text, "rowrelay_changes_delivered_total", meter, atomic_load(&meter->delivered));
  metrics_describe(text, "rowrelay_changes_refused_total", "counter",
                   "Changes that the target refused from this process.");
  EACH_METER
  write_number(text, "rowrelay_changes_refused_total", meter, atomic_load(&meter->refused));
  metrics_describe(text, "rowrelay_push_failures_total", "counter",
                   "Attempts of this process that failed for the target's fault, and are made again.");
  EACH_METER
  write_number(text, "rowrelay_push_failures_total", meter, atomic_load(&meter->failures));
  metrics_describe(text, "rowrelay_workers", "gauge", "Workers of this process.");
  EACH_METER
  write_number(text, "rowrelay_workers", meter, (uint64_t)atomic_load(&meter->workers));
  metrics_describe(text, "rowrelay_workers_busy", "gauge", "Workers of this process that have a batch in hand.");
  EACH_METER
  write_number(text, "rowrelay_workers_busy", meter, (uint64_t)atomic_load(&meter->busy));
}

static void write_table(struct buffer *text, const char *name, const struct meter *meter,
                        const struct table_meter *table, uint64_t value) {
  buffer_add_format(text, "%s{target=", name);
  metrics_label(text, meter->target);
  buffer_add_string(text, ",table=");
  metrics_label(text, table->table);
  buffer_add_format(text, "} %" PRIu64 "\n", value);
}

#define EACH_TABLE for (const struct table_meter *table = meter_tables(meter); table != NULL; table = table->next)

static void write_tables(struct buffer *text, const struct meter *meters) {
  metrics_describe(text, "rowrelay_table_changes_delivered_total", "counter",
                   "Changes of a table that this process has delivered.");
  EACH_METER
  EACH_TABLE
  write_table(text, "rowrelay_table_changes_delivered_total", meter, table, atomic_load(&table->delivered));
  metrics_describe(text, "rowrelay_table_changes_refused_total", "counter",
                   "Changes of a table that the target refused from this process.");
  EACH_METER
  EACH_TABLE
  write_table(text, "rowrelay_table_changes_refused_total", meter, table, atomic_load(&table->refused));
}

void metrics_write(struct buffer *text) {
  const struct meter *meters = metrics_first();
  if (meters == NULL)
    return;
  write_numbers(text, meters);
  write_tables(text, meters);
  metrics_describe(text, "rowrelay_batch_duration_seconds", "histogram",
                   "From when a batch was read to its settlement.");
  EACH_METER
  write_histogram(text, "rowrelay_batch_duration_seconds", meter, &meter->batches);
  metrics_describe(text, "rowrelay_push_duration_seconds", "histogram", "How long a push to the target took.");
  EACH_METER
  write_histogram(text, "rowrelay_push_duration_seconds", meter, &meter->pushes);
  metrics_describe(
      text, "rowrelay_delivery_delay_seconds", "histogram",
      "From the commit of a change to the settlement of its delivery, by the source's clock; from its capture "
      "where the source has track_commit_timestamp off.");
  EACH_METER
  write_histogram(text, "rowrelay_delivery_delay_seconds", meter, &meter->delays);
}
