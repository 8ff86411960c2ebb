#include "process/supervisor.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buffer.h"
#include "common/clock.h"
#include "common/interrupt.h"
#include "common/log.h"
#include "common/metrics.h"
#include "common/shell.h"
#include "common/version.h"
#include "common/wake.h"
#include "delivery/worker.h"
#include "monitor/monitor.h"
#include "postgres/number.h"
#include "postgres/result.h"
#include "process/backfiller.h"
#include "process/doorbell.h"
#include "process/leave.h"
#include "process/maintenance.h"
#include "process/patience.h"
#include "process/served.h"
#include "process/systemd.h"
#include "process/telemetry.h"
#include "queries.h"
#include "source/settings.h"
#include "targets/loss.h"
#include "targets/target.h"

/* Milliseconds between repetitions. */
#define TARGETS_INTERVAL 1000
#define BACKFILLS_INTERVAL 1000
#define HEARTBEAT_INTERVAL 5000
#define FLOORS_INTERVAL 10000
#define MAINTENANCE_INTERVAL 20000
#define HORIZON_INTERVAL 200
#define ASLEEP_INTERVAL 1000 /* for the horizon, while idle */
#define EMPTY_INTERVAL 20
#define RECONNECT_PAUSE 500
#define SOURCE_TIMEOUT 30000
#define GOODBYE_TIMEOUT 5000

/* What is said of all targets: with 200 bytes for each, of more than can be served. */
#define NAMES_LIMIT ((size_t)64 * 1024 * 1024)
/* Array literals of all lanes of a target, which are 2 * 1024 + 1 at most, and of their floors of up to 19 digits. */
#define LANES_LIMIT ((size_t)64 * 1024)

struct supervisor {
  const struct supervisor_options *options;
  char instance[40];  /* a uuid, of 36 letters */
  char source_id[40]; /* which installation it serves, as rowrelay.source has it; "": not known yet */
  char *names;        /* array literal of the targets to serve; NULL: all */
  struct source *source;
  bool was_connected;
  struct patience patience;
  struct horizon horizon;
  struct doorbell doorbell;
  struct backfiller backfiller;
  struct maintenance maintenance;
  struct monitor *monitor;     /* NULL: without --listen */
  struct telemetry *telemetry; /* NULL: the environment names no collector */
  struct backlog backlog;
  struct served_target **served;
  size_t served_count;
  int64_t started_at;
  /* when each is due; clock_now() */
  int64_t targets_at;
  int64_t backfills_at;
  int64_t heartbeat_at;
  int64_t floors_at;
  int64_t maintenance_at;
  int64_t horizon_at;
  int64_t empty_at;
};

static struct wake wake = {-1, -1}; /* ends the supervisor's wait: a signal came, or workers have become idle */

/* ---- targets and their workers --------------------------------------------------------------------------------- */

static struct served_target *find_served(struct supervisor *supervisor, int id) {
  for (size_t i = 0; i < supervisor->served_count; i++)
    if (supervisor->served[i]->pool.target == id)
      return supervisor->served[i];
  return NULL;
}

static bool serve_target(struct supervisor *supervisor, const struct settings *settings, struct error *error) {
  struct served_target **grown = realloc(supervisor->served, (supervisor->served_count + 1) * sizeof *grown);
  if (grown == NULL)
    return error_set(error, FAILURE_FATAL, "out of memory");
  supervisor->served = grown;
  struct serving serving = {.workers = supervisor->options->workers,
                            .worker = {.conninfo = supervisor->options->conninfo,
                                       .instance = supervisor->instance,
                                       .source_id = supervisor->source_id,
                                       .horizon = &supervisor->horizon},
                            .backlog = &supervisor->backlog,
                            .idle = &wake};
  struct served_target *target = served_start(settings, &serving, error);
  if (target == NULL)
    return false; /* the next look at the targets tries again */
  supervisor->served[supervisor->served_count++] = target;
  return true;
}

static void join_workers(struct supervisor *supervisor) {
  for (size_t i = 0; i < supervisor->served_count; i++)
    served_join(supervisor->served[i]);
}

/* Forgets a target that was dropped, as all its workers saw: it is there again, as where the database was restored. */
static void forget_deserted(struct supervisor *supervisor, int id) {
  struct served_target *target = find_served(supervisor, id);
  if (target == NULL || !worker_pool_is_deserted(&target->pool))
    return;
  size_t i = 0;
  while (supervisor->served[i] != target)
    i++;
  supervisor->served[i] = supervisor->served[--supervisor->served_count];
  served_join(target);
  served_free(target);
}

static void free_served(struct supervisor *supervisor) {
  for (size_t i = 0; i < supervisor->served_count; i++)
    served_free(supervisor->served[i]);
  free(supervisor->served);
}

/*
 * Ids of changes, targets and tables begin anew with an installation. This process knows some of another one, so it
 * ends rather than find out which.
 */
static bool check_installation(struct supervisor *supervisor, const char *source_id, struct error *error) {
  if (supervisor->source_id[0] == '\0')
    snprintf(supervisor->source_id, sizeof supervisor->source_id, "%s", source_id);
  if (strcmp(supervisor->source_id, source_id) == 0)
    return true;
  error_set(error, FAILURE_USAGE, "schema rowrelay was installed anew while this process ran");
  return error_hint(error, "start the process again");
}

/*
 * Whether the queue of each target that is there was read. Workers may have left one because it belongs to another
 * installation, or was gone for a moment, and one may be new.
 */
static bool confirm_targets(struct supervisor *supervisor, bool *all, struct error *error) {
  struct settings_list targets;
  if (!settings_list_load(&targets, supervisor->source, supervisor->names, error))
    return false;
  bool ok = true;
  for (size_t i = 0; ok && i < targets.count; i++) {
    struct served_target *served = find_served(supervisor, targets.all[i]->target);
    *all = *all && served != NULL && !worker_pool_is_deserted(&served->pool);
    ok = check_installation(supervisor, targets.all[i]->source_id, error) &&
         settings_are_of_this_source(targets.all[i], error);
  }
  settings_list_release(&targets);
  return ok;
}

/* Starts workers for targets that are new; those of a dropped target leave by themselves. */
static bool poll_targets(struct supervisor *supervisor, struct error *error) {
  struct settings_list targets;
  if (!settings_list_load(&targets, supervisor->source, supervisor->names, error))
    return false;
  bool ok = true;
  for (size_t i = 0; ok && i < targets.count; i++) {
    const struct settings *settings = targets.all[i];
    ok = check_installation(supervisor, settings->source_id, error) && settings_are_of_this_source(settings, error);
    if (ok)
      forget_deserted(supervisor, settings->target);
    if (ok && find_served(supervisor, settings->target) == NULL)
      ok = serve_target(supervisor, settings, error);
    if (ok)
      atomic_store(&find_served(supervisor, settings->target)->pool.workers_everywhere, settings->workers);
    if (ok)
      supervisor->doorbell.processes = 1 + settings->workers / (supervisor->options->workers + 1);
    if (ok && supervisor->options->until_empty && !settings->running) {
      ok = error_set(error, FAILURE_FATAL, "target %s is not running, so its queue will not become empty",
                     settings->name);
      error_detail(error, "%s", settings->reason[0] != '\0' ? settings->reason : "It is paused.");
      struct shell_word name;
      error_hint(error, "run: rowrelay target resume %s", shell_quote(&name, settings->name));
    }
  }
  settings_list_release(&targets);
  return ok;
}

static bool check_names(const struct supervisor *supervisor, const struct settings_list *targets, struct error *error) {
  bool ok = true;
  for (size_t i = 0; ok && i < supervisor->options->target_count; i++) {
    bool found = false;
    for (size_t n = 0; n < targets->count; n++)
      found = found || strcmp(targets->all[n]->name, supervisor->options->targets[i]) == 0;
    if (!found) {
      ok = error_set(error, FAILURE_USAGE, "target \"%s\" does not exist", supervisor->options->targets[i]);
      error_hint(error, "run: rowrelay target list");
    }
  }
  return ok;
}

static bool list_names(struct supervisor *supervisor, struct error *error) {
  if (supervisor->options->target_count == 0)
    return true;
  struct buffer names;
  buffer_init(&names, NAMES_LIMIT);
  for (size_t i = 0; i < supervisor->options->target_count; i++) {
    buffer_add_string(&names, i == 0 ? "{" : ",");
    /* An array literal quotes as JSON does, as far as names go. */
    buffer_add_json_string(&names, supervisor->options->targets[i]);
  }
  buffer_add_string(&names, "}");
  if (!buffer_ok(&names, "the list of targets", error)) {
    buffer_release(&names);
    return false;
  }
  supervisor->names = names.data;
  return true;
}

/* Checks files and variables at once; a target added later shows what is missing in rowrelay status. */
static bool check_targets(struct supervisor *supervisor, struct error *error) {
  struct settings_list targets;
  if (!settings_list_load(&targets, supervisor->source, supervisor->names, error))
    return false;
  bool ok = check_names(supervisor, &targets, error);
  for (size_t i = 0; ok && i < targets.count; i++)
    ok = !targets.all[i]->running || target_check(targets.all[i], error);
  settings_list_release(&targets);
  return ok;
}

/* ---- the source ------------------------------------------------------------------------------------------------ */

static bool begin_instance(struct supervisor *supervisor, struct error *error) {
  if (supervisor->instance[0] == '\0') {
    PGresult *reply = NULL;
    if (!source_run(supervisor->source, &QUERY_instance_new_id, NO_VALUES, &reply, error))
      return false;
    snprintf(supervisor->instance, sizeof supervisor->instance, "%s", PQgetvalue(reply, 0, 0));
    PQclear(reply);
  }
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  PGresult *reply = NULL;
  bool ok = source_run(supervisor->source, &QUERY_instance_begin,
                       VALUES(supervisor->instance, host, number(getpid()).text, ROWRELAY_VERSION,
                              number(supervisor->options->workers).text, supervisor->names),
                       &reply, error) &&
            check_installation(supervisor, PQgetvalue(reply, 0, 0), error);
  PQclear(reply);
  return ok;
}

/* Opens this thread's connection. */
static bool connect_source(struct supervisor *supervisor, struct error *error) {
  if (!source_open_for_work(&supervisor->source, supervisor->options->conninfo, supervisor->options->here, error))
    return !supervisor->was_connected && source_explain_place(error);
  pgconn_set_deadline(source_connection(supervisor->source), SOURCE_TIMEOUT);
  if ((supervisor->was_connected || check_targets(supervisor, error)) && begin_instance(supervisor, error) &&
      source_run(supervisor->source, &QUERY_hold_hurry, NO_VALUES, NULL, error) &&
      doorbell_listen(&supervisor->doorbell, supervisor->source, error)) {
    if (supervisor->was_connected)
      log_message(LOG_LEVEL_INFO, "source: connected again");
    else
      log_message(LOG_LEVEL_INFO, "rowrelay %s delivers from %s", ROWRELAY_VERSION,
                  pgconn_describe(source_connection(supervisor->source)));
    supervisor->was_connected = true;
    supervisor->maintenance_at = 0; /* it is due at once where this is another server: rowrelay.skip_lost_ids() */
    patience_connected(&supervisor->patience);
    systemd_status("running, connected to %s", pgconn_describe(source_connection(supervisor->source)));
    return true;
  }
  source_close(supervisor->source);
  supervisor->source = NULL;
  return false;
}

/* What is known of the source may be out of date: see floor.h and horizon.h. */
static void lose_source(struct supervisor *supervisor) {
  for (size_t i = 0; i < supervisor->served_count; i++)
    floor_forget(&supervisor->served[i]->pool.floor);
  horizon_forget(&supervisor->horizon);
  source_close(supervisor->source);
  supervisor->source = NULL;
}

/* Records that this process is alive, and what it does. */
static bool send_heartbeat(struct supervisor *supervisor, struct error *error) {
  struct buffer doing;
  buffer_init(&doing, NAMES_LIMIT);
  for (size_t i = 0; i < supervisor->served_count; i++) {
    struct served_target *target = supervisor->served[i];
    int busy = atomic_load(&target->pool.meter->busy);
    const char *separator = doing.length > 0 ? "; " : "";
    if (worker_pool_is_failing(&target->pool))
      buffer_add_format(&doing, "%s%s: failing, retrying", separator, target->pool.name);
    else if (busy > 0)
      buffer_add_format(&doing, "%s%s: %d of %d workers delivering", separator, target->pool.name, busy, target->count);
  }
  bool ok =
      source_run(supervisor->source, &QUERY_instance_heartbeat,
                 VALUES(supervisor->instance, doing.length > 0 ? doing.data : "waiting for changes"), NULL, error);
  buffer_release(&doing);
  return ok;
}

/* What somebody should do something about, and would not know of. */
static bool note_losses(struct supervisor *supervisor, struct error *error) {
  for (struct loss loss; loss_take(&loss);)
    if (!source_run(supervisor->source, &QUERY_target_lost, VALUES(number(loss.target).text, loss.what, loss.helps),
                    NULL, error)) {
      loss_give_back(&loss);
      return false;
    }
  return true;
}

static bool store_floors(struct supervisor *supervisor, struct error *error) {
  for (size_t i = 0; i < supervisor->served_count; i++) {
    struct worker_pool *pool = &supervisor->served[i]->pool;
    int version;
    int64_t floor = floor_lowest(&pool->floor, &version);
    if (version != 0 && floor > 0 &&
        !source_run(supervisor->source, &QUERY_floor_store,
                    VALUES(number(pool->target).text, number(version).text, number(floor).text), NULL, error))
      return false;
  }
  return true;
}

static bool maintain(struct supervisor *supervisor, struct error *error) {
  if (!maintenance_tend(&supervisor->maintenance, supervisor->source, error)) {
    /* No right to the tables, or another session holds a lock: delivery goes on anyway. */
    if (!pgconn_alive(source_connection(supervisor->source)))
      return false;
    log_failure(LOG_LEVEL_WARNING, error, "maintenance");
  }
  return true;
}

static bool poll_backfills(struct supervisor *supervisor, bool *found, struct error *error) {
  PGresult *reply = NULL;
  if (!source_run(supervisor->source, &QUERY_backfill_unfinished, VALUES(supervisor->names), &reply, error))
    return false;
  *found = PQntuples(reply) > 0;
  PQclear(reply);
  return !*found || backfiller_wake(&supervisor->backfiller, error);
}

/* Whether nothing is queued for a target, or claimed by another process. */
static bool target_is_empty(struct supervisor *supervisor, struct worker_pool *pool, bool *empty, struct error *error) {
  struct starts starts;
  starts_init(&starts, LANES_LIMIT);
  PGresult *reply = NULL;
  bool ok = true;
  int version;
  floor_lowest(&pool->floor, &version);
  *empty = false;
  if (floor_write(&pool->floor, version, NULL, 0, &starts)) {
    ok = starts_ok(&starts, error) &&
         source_run(supervisor->source, &QUERY_pending, VALUES(starts.lanes.data, starts.floors.data), &reply, error);
    *empty = ok && !result_bool(reply, 0, 0);
  }
  PQclear(reply);
  starts_release(&starts);
  return ok;
}

static bool is_empty(struct supervisor *supervisor, bool *empty, struct error *error) {
  if (!patience_with_targets(&supervisor->patience, supervisor->source, supervisor->instance, error) ||
      !patience_with_documents(&supervisor->patience, supervisor->source, supervisor->instance, error))
    return false;
  /* Before the queues, because what ends a backfill fills them. */
  bool unfinished;
  if (!poll_backfills(supervisor, &unfinished, error))
    return false;
  *empty = !unfinished && !maintenance_is_needed(&supervisor->maintenance);
  for (size_t i = 0; *empty && i < supervisor->served_count; i++) {
    struct worker_pool *pool = &supervisor->served[i]->pool;
    if (worker_pool_is_deserted(pool))
      continue;
    *empty = worker_pool_is_idle(pool, supervisor->started_at - 1);
    if (*empty && !target_is_empty(supervisor, pool, empty, error))
      return false;
  }
  return !*empty || confirm_targets(supervisor, empty, error);
}

/* ---- the loop -------------------------------------------------------------------------------------------------- */

/* Whether `due` has come; then it is moved on by `interval`. */
static bool is_due(int64_t *due, int64_t interval) {
  int64_t now = clock_now();
  if (now < *due)
    return false;
  *due = now + interval;
  return true;
}

static bool any_idle(struct supervisor *supervisor) {
  for (size_t i = 0; i < supervisor->served_count; i++)
    if (worker_pool_is_idle(&supervisor->served[i]->pool, 0))
      return true;
  return false;
}

static void wake_idle(struct supervisor *supervisor) {
  for (size_t i = 0; i < supervisor->served_count; i++)
    if (worker_pool_is_idle(&supervisor->served[i]->pool, 0))
      worker_pool_wake(&supervisor->served[i]->pool, 1);
}

static int64_t tending_interval(const struct supervisor *supervisor) {
  return supervisor->doorbell.state == DOORBELL_ASLEEP ? ASLEEP_INTERVAL : HORIZON_INTERVAL;
}

/* Everything that is due; *wait is lowered to when something will be. */
static bool tend(struct supervisor *supervisor, int64_t *wait, bool *finished, struct error *error) {
  struct source *source = supervisor->source;
  pgconn_set_deadline(source_connection(source), SOURCE_TIMEOUT);
  if (is_due(&supervisor->targets_at, TARGETS_INTERVAL) && !poll_targets(supervisor, error))
    return false;
  bool unfinished;
  if (is_due(&supervisor->backfills_at, BACKFILLS_INTERVAL) && !poll_backfills(supervisor, &unfinished, error))
    return false;
  if (!note_losses(supervisor, error))
    return false;
  if (is_due(&supervisor->heartbeat_at, HEARTBEAT_INTERVAL) && !send_heartbeat(supervisor, error))
    return false;
  if (is_due(&supervisor->horizon_at, tending_interval(supervisor)) &&
      !horizon_advance(&supervisor->horizon, source, error))
    return false;
  if (is_due(&supervisor->floors_at, FLOORS_INTERVAL) && !store_floors(supervisor, error))
    return false;
  if ((is_due(&supervisor->maintenance_at, MAINTENANCE_INTERVAL) ||
       maintenance_has_maintained(&supervisor->maintenance)) &&
      !maintain(supervisor, error))
    return false;
  if (supervisor->options->until_empty && is_due(&supervisor->empty_at, EMPTY_INTERVAL) &&
      !is_empty(supervisor, finished, error))
    return false;
  bool poll = false;
  if (any_idle(supervisor) && !doorbell_tend(&supervisor->doorbell, source, &poll, wait, error))
    return false;
  if (poll)
    wake_idle(supervisor);
  return true;
}

/* One turn of the loop while connected. False when the connection is lost, or with an error that ends it all. */
static bool turn(struct supervisor *supervisor, bool *finished, struct error *error) {
  int64_t wait = supervisor->options->until_empty ? EMPTY_INTERVAL : tending_interval(supervisor);
  if (!tend(supervisor, &wait, finished, error))
    return false;
  struct pgconn *connection = source_connection(supervisor->source);
  if (!*finished && wait > 0 && pgconn_wait_notify(connection, wait, wake.fd)) {
    wake_idle(supervisor);
    if (!doorbell_disarm(&supervisor->doorbell, supervisor->source, error))
      return false;
  }
  wake_clear(&wake);
  return pgconn_alive(connection) || error_set(error, FAILURE_RETRY, "the connection to the source is lost");
}

/* A permanent error ends only a process that is to end by itself: who waits for that end must see the error. */
static bool may_go_on(const struct supervisor *supervisor, const struct error *error) {
  return error->kind == FAILURE_RETRY || (error->kind != FAILURE_USAGE && !supervisor->options->until_empty);
}

static bool run_until_told(struct supervisor *supervisor, struct error *error) {
  bool finished = false;
  bool ready = false;
  while (!finished && !leave_is_told()) {
    monitor_heartbeat(supervisor->monitor, supervisor->source != NULL);
    systemd_alive();
    if (patience_rests(&supervisor->patience))
      continue;
    bool connected = supervisor->source != NULL || connect_source(supervisor, error);
    if (!connected && patience_is_in_vain(supervisor->was_connected, supervisor->options->until_empty, error))
      return false;
    /* Started, for systemd: wrong use has been reported by now, and all else of the source is waited for. */
    if (!ready)
      systemd_ready();
    ready = true;
    if (!connected && patience_try_away(&supervisor->patience, supervisor->was_connected, error))
      return false;
    if (!connected)
      continue;
    if (turn(supervisor, &finished, error) || leave_is_told())
      continue;
    bool lost = !pgconn_alive(source_connection(supervisor->source));
    if (!lost && !may_go_on(supervisor, error))
      return false;
    if (lost || error->kind == FAILURE_RETRY) {
      if (lost)
        log_failure(LOG_LEVEL_WARNING, error, "source");
      lose_source(supervisor);
    } else {
      patience_report_failure(&supervisor->patience, error);
      pgconn_rollback(source_connection(supervisor->source));
      if (!source_check_schema(supervisor->source, error) && error->kind == FAILURE_USAGE)
        return false;
      usleep(RECONNECT_PAUSE * 1000);
    }
  }
  return true;
}

/* All are told first, so that none works on, or begins anything, while another one takes its time. */
static void tell_all_to_leave(struct supervisor *supervisor) {
  for (size_t i = 0; i < supervisor->served_count; i++)
    worker_pool_leave(&supervisor->served[i]->pool);
  backfiller_leave(&supervisor->backfiller);
  maintenance_leave(&supervisor->maintenance);
  monitor_leave(supervisor->monitor);
}

static void wait_for_all(struct supervisor *supervisor) {
  backfiller_release(&supervisor->backfiller);
  maintenance_release(&supervisor->maintenance);
  join_workers(supervisor);
}

/* Records that this process has ended. */
static void say_goodbye(struct supervisor *supervisor) {
  struct error ignored;
  if (supervisor->source == NULL)
    return;
  pgconn_set_deadline(source_connection(supervisor->source), GOODBYE_TIMEOUT);
  if (!note_losses(supervisor, &ignored) || !store_floors(supervisor, &ignored) ||
      !doorbell_disarm(&supervisor->doorbell, supervisor->source, &ignored) ||
      !source_run(supervisor->source, &QUERY_instance_end, VALUES(supervisor->instance), NULL, &ignored))
    log_failure(LOG_LEVEL_DEBUG, &ignored, "source");
}

/* The last line, for a process that has said what it is. The error itself is told by main(). */
static void tell_end(const struct supervisor *supervisor, bool ok) {
  unsigned long long delivered, refused;
  if (!supervisor->was_connected)
    return;
  metrics_totals(&delivered, &refused);
  const char *why = !ok                        ? "because it failed"
                    : !leave_is_told()         ? "because nothing is pending"
                    : leave_signal() == SIGINT ? "because of SIGINT"
                                               : "because of SIGTERM";
  log_message(LOG_LEVEL_INFO, "rowrelay %s ends %s: %llu change%s delivered, %llu refused", ROWRELAY_VERSION, why,
              delivered, delivered == 1 ? "" : "s", refused);
}

bool supervisor_run(const struct supervisor_options *options, struct error *error) {
  struct supervisor *supervisor = calloc(1, sizeof *supervisor);
  if (supervisor == NULL)
    return error_set(error, FAILURE_FATAL, "out of memory");
  supervisor->options = options;
  supervisor->started_at = clock_now();
  supervisor->patience = (struct patience){.wait = options->wait, .began = supervisor->started_at};
  horizon_init(&supervisor->horizon);
  doorbell_init(&supervisor->doorbell);
  bool ok = (wake_open(&wake) || error_set(error, FAILURE_FATAL, "cannot create a pipe: %s", strerror(errno))) &&
            leave_on_signals(&wake, error) && list_names(supervisor, error);
  backfiller_init(&supervisor->backfiller, options->conninfo, supervisor->names);
  maintenance_init(&supervisor->maintenance, options->conninfo, &supervisor->backlog);
  ok = ok && telemetry_start(&supervisor->telemetry, options->conninfo, error);
  ok =
      ok && (options->listen == NULL || monitor_start(&supervisor->monitor, options->listen, options->conninfo, error));
  ok = ok && run_until_told(supervisor, error);
  if (ok && leave_is_told())
    log_message(LOG_LEVEL_INFO, "told to stop: current batches end first");
  systemd_stopping();
  tell_all_to_leave(supervisor);
  wait_for_all(supervisor);
  say_goodbye(supervisor);
  free_served(supervisor);
  monitor_stop(supervisor->monitor);
  telemetry_stop(supervisor->telemetry);
  source_close(supervisor->source);
  systemd_status("%s", ok ? "" : error->message);
  tell_end(supervisor, ok);
  doorbell_release(&supervisor->doorbell);
  horizon_release(&supervisor->horizon);
  free(supervisor->names);
  free(supervisor);
  wake_close(&wake);
  return ok;
}
