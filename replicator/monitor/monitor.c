#include "monitor/monitor.h"

#include <inttypes.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/metrics.h"
#include "common/portable.h"
#include "common/version.h"
#include "http/server.h"
#include "monitor/changes.h"
#include "monitor/console.h"
#include "monitor/console_action.h"
#include "monitor/console_actor.h"
#include "monitor/verifier.h"
#include "postgres/result.h"
#include "queries.h"
#include "source/source.h"

/* Milliseconds */
#define PROBE_TIMEOUT 3000   /* for an answer of the source to what machines ask */
#define PEOPLE_TIMEOUT 15000 /* and people, who may search in a large log */
#define RECONNECT_WITHIN 1000
#define STUCK_AFTER 120000 /* the supervisor waits for the source at most 30 s at a time */

/* A connection to the source, made when it is needed and kept while it works. */
struct line {
  const char *conninfo;
  pthread_mutex_t lock;
  struct source *source; /* NULL: not connected, */
  struct error why;      /* and why not, as it was found out */
  int64_t lost_at;       /* then (clock_now()) */
  int64_t timeout;
};

struct monitor {
  struct server *server;
  struct changes *changes;
  time_t started_at;
  _Atomic int64_t heartbeat_at; /* clock_now() */
  atomic_bool connected;
  struct line probes; /* what people ask keeps no probe waiting */
  struct line people;
  struct line searches; /* and a long search keeps nobody's page waiting */
  struct samples samples;
  struct verifier *verifier;
  pthread_t sampler;
  pthread_mutex_t lock;
  pthread_cond_t leaves;
  bool leaving;
};

/* ---- the source ------------------------------------------------------------------------------------------------ */

static bool ask(struct line *line, const struct query *query, struct values values, PGresult **reply,
                struct error *error) {
  int64_t asked = clock_now();
  pthread_mutex_lock(&line->lock);
  int64_t began = clock_now();
  /* Many may ask while one waits for a source that does not answer; they would wait one after another. */
  if (line->source == NULL && line->lost_at > asked) {
    *error = line->why;
    pthread_mutex_unlock(&line->lock);
    return false;
  }
  bool ok = true;
  /* What was lost since is not found out before it is used: then once more. */
  for (int attempt = 0; attempt < 2; attempt++) {
    bool kept = line->source != NULL;
    ok = kept || source_open_within(&line->source, line->conninfo, line->timeout, error);
    if (ok) {
      pgconn_set_deadline(source_connection(line->source), line->timeout);
      ok = source_run(line->source, query, values, reply, error);
    }
    bool lost =
        !ok && (line->source == NULL || !pgconn_alive(source_connection(line->source)) || error->kind == FAILURE_RETRY);
    if (lost) {
      if (line->source != NULL)
        pgconn_cancel(source_connection(line->source));
      source_close(line->source);
      line->source = NULL;
      if (error->sqlstate[0] == '\0') { /* else the source did answer, and what it said is of this query alone */
        line->why = *error;
        line->lost_at = clock_now();
      }
    }
    /* Whoever has waited for an answer that did not come does not wait again. */
    if (!lost || !kept || clock_now() - began > RECONNECT_WITHIN)
      break;
  }
  pthread_mutex_unlock(&line->lock);
  return ok;
}

static bool probe(struct monitor *monitor, const struct query *query, PGresult **reply, struct error *error) {
  return ask(&monitor->probes, query, NO_VALUES, reply, error);
}

bool monitor_ask(struct monitor *monitor, const struct query *query, struct values values, PGresult **reply,
                 struct error *error) {
  return ask(&monitor->people, query, values, reply, error);
}

bool monitor_search(struct monitor *monitor, const struct query *query, struct values values, PGresult **reply,
                    struct error *error) {
  return ask(&monitor->searches, query, values, reply, error);
}

/* ---- whether it lives, and can work ---------------------------------------------------------------------------- */

static void answer_health(void *context, const struct server_request *request, struct server_answer *answer) {
  struct monitor *monitor = context;
  (void)request;
  int64_t silent = clock_now() - atomic_load(&monitor->heartbeat_at);
  if (silent > STUCK_AFTER) {
    answer->status = MHD_HTTP_SERVICE_UNAVAILABLE;
    buffer_add_format(&answer->body, "stuck for %" PRId64 " s\n", silent / 1000);
    return;
  }
  buffer_add_string(&answer->body, "ok\n");
}

static void answer_readiness(void *context, const struct server_request *request, struct server_answer *answer) {
  struct monitor *monitor = context;
  struct error error;
  PGresult *reply = NULL;
  (void)request;
  if (!probe(monitor, &QUERY_monitor_source, &reply, &error)) {
    answer->status = MHD_HTTP_SERVICE_UNAVAILABLE;
    buffer_add_format(&answer->body, "source: %s\n", error.message);
    return;
  }
  bool standby = result_bool(reply, 0, 1);
  PQclear(reply);
  if (!standby && atomic_load(&monitor->connected)) {
    buffer_add_string(&answer->body, "ok\n");
    return;
  }
  answer->status = MHD_HTTP_SERVICE_UNAVAILABLE;
  buffer_add_string(&answer->body, standby ? "source: it is a standby\n" : "source: not connected yet\n");
}

/* ---- metrics --------------------------------------------------------------------------------------------------- */

static void write_process(const struct monitor *monitor, struct buffer *text) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  int64_t microseconds = (int64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 + usage.ru_utime.tv_usec +
                         usage.ru_stime.tv_usec;
  metrics_describe(text, "rowrelay_build_info", "gauge", "The version of the program; always 1.");
  buffer_add_string(text, "rowrelay_build_info{version=\"" ROWRELAY_VERSION "\"} 1\n");
  metrics_describe(text, "process_start_time_seconds", "gauge", "When the process began, in seconds since 1970.");
  buffer_add_format(text, "process_start_time_seconds %lld\n", (long long)monitor->started_at);
  metrics_describe(text, "process_cpu_seconds_total", "counter", "CPU time of the process.");
  buffer_add_format(text, "process_cpu_seconds_total %" PRId64 ".%06" PRId64 "\n", microseconds / 1000000,
                    microseconds % 1000000);
  metrics_describe(text, "process_resident_memory_bytes", "gauge", "Memory of the process.");
  buffer_add_format(text, "process_resident_memory_bytes %lld\n", (long long)portable_resident_bytes());
}

/* One line for each target, of a column of monitor_targets.sql. */
static void write_column(struct buffer *text, const PGresult *reply, int column, const char *name, const char *help) {
  metrics_describe(text, name, "gauge", help);
  for (int row = 0; row < PQntuples(reply); row++) {
    buffer_add_format(text, "%s{target=", name);
    metrics_label(text, PQgetvalue(reply, row, SAMPLE_TARGET));
    buffer_add_format(text, "} %s\n", PQgetvalue(reply, row, column));
  }
}

static void write_states(struct buffer *text, const PGresult *reply) {
  static const char *const STATES[] = {"running", "failing", "paused", "halted", "not running"};
  metrics_describe(text, "rowrelay_target_state", "gauge",
                   "1 for the state that a target is in, 0 for the others; failing: its circuit breaker is open.");
  for (int row = 0; row < PQntuples(reply); row++) {
    for (size_t i = 0; i < sizeof STATES / sizeof STATES[0]; i++) {
      buffer_add_string(text, "rowrelay_target_state{target=");
      metrics_label(text, PQgetvalue(reply, row, SAMPLE_TARGET));
      buffer_add_format(text, ",state=\"%s\"} %d\n", STATES[i],
                        strcmp(PQgetvalue(reply, row, SAMPLE_STATE), STATES[i]) == 0);
    }
  }
}

/* A metric without labels, of a column of monitor_source.sql. */
struct source_metric {
  int column;
  const char *name;
  const char *type;
  const char *help;
};

static const struct source_metric SOURCE_METRICS[] = {
    {MONITORED_CAPTURED, "rowrelay_changes_captured_total", "counter",
     "Changes that were captured at the source, with those of transactions that were rolled back."},
    {MONITORED_OPEN_UNTIL, "rowrelay_log_open_until_timestamp_seconds", "gauge",
     "Up to when the log has a partition for each day, in seconds since 1970."},
    {MONITORED_OVERDUE, "rowrelay_log_overdue_partitions", "gauge",
     "Partitions of the log, of a day each, that are old enough to be dropped and cannot be."},
    {MONITORED_DAYS, "rowrelay_log_partitions", "gauge", "Partitions of the log up to today, of a day each."},
    {MONITORED_BYTES, "rowrelay_log_bytes", "gauge", "What the log takes on the source's disk, with its indexes."},
};

static void write_one(struct buffer *text, const PGresult *reply, const struct source_metric *metric) {
  metrics_describe(text, metric->name, metric->type, metric->help);
  buffer_add_format(text, "%s %s\n", metric->name, PQgetvalue(reply, 0, metric->column));
}

static void write_source(struct monitor *monitor, struct buffer *text) {
  struct error error;
  PGresult *targets = NULL;
  PGresult *source = NULL;
  bool up = probe(monitor, &QUERY_monitor_source, &source, &error) &&
            probe(monitor, &QUERY_monitor_targets, &targets, &error);
  metrics_describe(text, "rowrelay_source_up", "gauge", "Whether the source answered just now.");
  buffer_add_format(text, "rowrelay_source_up %d\n", up);
  if (up) {
    for (size_t i = 0; i < sizeof SOURCE_METRICS / sizeof SOURCE_METRICS[0]; i++)
      write_one(text, source, &SOURCE_METRICS[i]);
    write_states(text, targets);
    write_column(text, targets, SAMPLE_BACKLOG, "rowrelay_backlog_changes",
                 "Changes that wait for a target, counted up to a million.");
    write_column(text, targets, SAMPLE_LAG, "rowrelay_oldest_pending_seconds",
                 "Age of the oldest change that waits; 0: none does.");
    write_column(text, targets, SAMPLE_ERRORS, "rowrelay_errors",
                 "Changes that a target refused, and nobody has retried or skipped.");
    write_column(text, targets, SAMPLE_BLOCKED, "rowrelay_blocked_changes",
                 "Changes that wait behind a refused one of their key, or because the target cannot take their table.");
  }
  PQclear(source);
  PQclear(targets);
}

static void answer_metrics(void *context, const struct server_request *request, struct server_answer *answer) {
  struct monitor *monitor = context;
  (void)request;
  answer->type = "text/plain; version=0.0.4; charset=utf-8";
  write_process(monitor, &answer->body);
  metrics_write(&answer->body);
  write_source(monitor, &answer->body);
}

/* ---- samples for the console ----------------------------------------------------------------------------------- */

struct samples *monitor_samples(struct monitor *monitor) {
  return &monitor->samples;
}

struct verifier *monitor_verifier(struct monitor *monitor) {
  return monitor->verifier;
}

static void *take_samples(void *argument) {
  struct monitor *monitor = argument;
  bool leaving = false;
  while (!leaving) {
    struct error error;
    PGresult *targets = NULL;
    if (probe(monitor, &QUERY_monitor_targets, &targets, &error))
      samples_add(&monitor->samples, targets, (int64_t)time(NULL));
    PQclear(targets);
    int64_t until = clock_now() + INT64_C(1000) * SAMPLE_INTERVAL;
    pthread_mutex_lock(&monitor->lock);
    while (!monitor->leaving && clock_now() < until)
      clock_wait(&monitor->leaves, &monitor->lock, until);
    leaving = monitor->leaving;
    pthread_mutex_unlock(&monitor->lock);
  }
  return NULL;
}

/* ---- changes --------------------------------------------------------------------------------------------------- */

static bool keep_listener(void *context, const struct server_request *request, struct exchange *exchange,
                          struct server_answer *answer) {
  struct monitor *monitor = context;
  return changes_keep(monitor->changes, request, exchange, answer);
}

void monitor_leave(struct monitor *monitor) {
  if (monitor != NULL)
    changes_leave(monitor->changes);
}

/* ---- the server ------------------------------------------------------------------------------------------------ */

static const struct server_route ROUTES[] = {
    {.method = "GET", .path = "/healthz", .handle = answer_health},
    {.method = "GET", .path = "/readyz", .handle = answer_readiness, .waits = true},
    {.method = "GET", .path = "/metrics", .handle = answer_metrics, .waits = true},
    {.method = "GET", .path = "/", .handle = console_file},
    {.method = "GET", .path = "/console.css", .handle = console_file},
    {.method = "GET", .path = "/console.js", .handle = console_file},
    {.method = "GET", .path = "/basics.js", .handle = console_file},
    {.method = "GET", .path = "/charts.js", .handle = console_file},
    {.method = "GET", .path = "/compare.js", .handle = console_file},
    {.method = "GET", .path = "/overview.js", .handle = console_file},
    {.method = "GET", .path = "/target.js", .handle = console_file},
    {.method = "GET", .path = "/errors.js", .handle = console_file},
    {.method = "GET", .path = "/lists.js", .handle = console_file},
    {.method = "GET", .path = "/history.js", .handle = console_file},
    {.method = "GET", .path = "/api/overview", .handle = console_overview, .waits = true},
    {.method = "GET", .path = "/api/target", .handle = console_target, .waits = true},
    {.method = "GET", .path = "/api/list", .handle = console_list, .waits = true},
    {.method = "GET", .path = "/api/samples", .handle = console_samples},
    {.method = "GET", .path = "/api/errors", .handle = console_errors, .waits = true},
    {.method = "GET", .path = "/api/history", .handle = console_history, .waits = true},
    {.method = "GET", .path = "/api/past", .handle = console_past, .waits = true},
    {.method = "GET", .path = "/api/undo", .handle = console_undo, .waits = true},
    {.method = "GET", .path = "/api/verify", .handle = console_verify},
    {.method = "GET", .path = "/api/who", .handle = console_who, .waits = true},
    {.method = "GET", .path = "/changes", .keep = keep_listener},
    {.method = "POST", .path = "/api/actions", .handle = console_act, .waits = true},
    {.path = NULL},
};

static void line_init(struct line *line, const char *conninfo, int64_t timeout) {
  line->conninfo = conninfo;
  pthread_mutex_init(&line->lock, NULL);
  line->timeout = timeout;
}

static void line_release(struct line *line) {
  source_close(line->source);
  pthread_mutex_destroy(&line->lock);
}

static void release(struct monitor *monitor) {
  line_release(&monitor->probes);
  line_release(&monitor->people);
  line_release(&monitor->searches);
  changes_free(monitor->changes);
  verifier_free(monitor->verifier);
  samples_release(&monitor->samples);
  pthread_cond_destroy(&monitor->leaves);
  pthread_mutex_destroy(&monitor->lock);
  free(monitor);
}

bool monitor_start(struct monitor **monitor, const char *address, const char *conninfo, struct error *error) {
  struct monitor *made = calloc(1, sizeof *made);
  if (made == NULL)
    return error_set(error, FAILURE_RETRY, "out of memory");
  made->started_at = time(NULL);
  pthread_mutex_init(&made->lock, NULL);
  clock_init_condition(&made->leaves);
  line_init(&made->probes, conninfo, PROBE_TIMEOUT);
  line_init(&made->people, conninfo, PEOPLE_TIMEOUT);
  line_init(&made->searches, conninfo, PEOPLE_TIMEOUT);
  samples_init(&made->samples);
  atomic_store(&made->heartbeat_at, clock_now());
  metrics_measure_delays();
  made->verifier = verifier_new(conninfo);
  bool ok = (made->verifier != NULL || error_set(error, FAILURE_RETRY, "out of memory")) &&
            console_actor_check(error) && changes_start(&made->changes, conninfo, error) &&
            server_start(&made->server, address, ROUTES, made, error);
  if (ok && pthread_create(&made->sampler, NULL, take_samples, made) != 0)
    ok = error_set(error, FAILURE_FATAL, "cannot start a thread");
  if (!ok) {
    changes_stop(made->changes);
    server_stop(made->server);
    release(made);
    return false;
  }
  log_message(LOG_LEVEL_INFO, "listening on port %d: console, /changes, /metrics, /healthz, /readyz",
              server_port(made->server));
  *monitor = made;
  return true;
}

void monitor_stop(struct monitor *monitor) {
  if (monitor == NULL)
    return;
  pthread_mutex_lock(&monitor->lock);
  monitor->leaving = true;
  pthread_cond_signal(&monitor->leaves);
  pthread_mutex_unlock(&monitor->lock);
  pthread_join(monitor->sampler, NULL);
  changes_stop(monitor->changes);
  server_stop(monitor->server);
  release(monitor);
}

void monitor_heartbeat(struct monitor *monitor, bool connected) {
  if (monitor == NULL)
    return;
  atomic_store(&monitor->heartbeat_at, clock_now());
  atomic_store(&monitor->connected, connected);
}
