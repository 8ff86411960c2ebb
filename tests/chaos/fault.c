#include "fault.h"

#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "machine.h"
#include "restore.h"
#include "target.h"
#include "workload.h"

#define MOST_HELD 140 /* connections */

static const char *either(struct fault_scene *s, const char *one, const char *other) {
  return dice_chance(&s->dice, 50) ? one : other;
}

static void pause_between(struct fault_scene *s, double least, double most) {
  pause_for(dice_seconds(&s->dice, least, most));
}

/* ---- processes --------------------------------------------------------------------------------------------------- */

static int some_relay(struct fault_scene *s) {
  return dice_roll(&s->dice, RELAYS) - 1;
}

static void signal_relay(struct fault_scene *s, int relay, int number) {
  pid_t pid = atomic_load(&s->stage->shared->relays[relay]);
  if (pid > 0)
    kill(pid, number);
}

static void kill_relay(struct fault_scene *s) {
  signal_relay(s, some_relay(s), SIGKILL);
}

static void kill_all_relays(struct fault_scene *s) {
  for (int i = 0; i < RELAYS; i++)
    signal_relay(s, i, SIGKILL);
}

static void end_relay(struct fault_scene *s) {
  signal_relay(s, some_relay(s), SIGTERM);
}

static void stop_relay(struct fault_scene *s) {
  int relay = some_relay(s);
  signal_relay(s, relay, SIGSTOP);
  pause_between(s, 0.1, dice_chance(&s->dice, 20) ? 9 : 2);
  signal_relay(s, relay, SIGCONT);
}

#define END_RELAYS                                                                                                     \
  "select count(pg_terminate_backend(pid)) from pg_stat_activity "                                                     \
  "where application_name <> 'chaos' and backend_type = 'client backend' and datname = 'work' and pid %% %d = %d"

/* The source forgets processes that do not know it yet. */
static void zombie(struct fault_scene *s) {
  int relay = some_relay(s);
  PGconn *source = stage_try(s->stage, "source", "work");
  signal_relay(s, relay, SIGSTOP);
  pause_between(s, 0, 0.3);
  if (source != NULL)
    (void)ask(source, END_RELAYS, 1, 0);
  pause_between(s, 0.3, 6);
  signal_relay(s, relay, SIGCONT);
  PQfinish(source);
}

/* What a process has sent to a target is under way when the source forgets the process, and arrives much later. */
static void late_push(struct fault_scene *s) {
  PGconn *source = stage_try(s->stage, "source", "work");
  atomic_store(&s->target.orders->old_stalled, true);
  pause_between(s, 0.02, 0.3);
  if (source != NULL)
    (void)ask(source, END_RELAYS, 1, 0);
  pause_between(s, 0.3, 3);
  atomic_store(&s->target.orders->old_stalled, false);
  PQfinish(source);
}

static void terminate_backends(struct fault_scene *s) {
  const char *where = either(s, "source", "target");
  PGconn *connection = stage_try(s->stage, where, "postgres");
  if (connection != NULL)
    (void)ask(connection,
              "select count(pg_terminate_backend(pid)) from pg_stat_activity where backend_type = 'client backend' "
              "and pid <> pg_backend_pid() and datname <> 'postgres' and pid %% 3 = %d",
              dice_roll(&s->dice, 3) - 1);
  PQfinish(connection);
}

/* ---- servers and networks ---------------------------------------------------------------------------------------- */

/*
 * Half the time in a lull: whoever commits writes what others did before to the disk as well, so only where nobody
 * writes is a settle that did not wait for the disk still lost.
 */
static void restart(struct fault_scene *s) {
  const char *server = either(s, "source", "target");
  bool is_in_lull = dice_chance(&s->dice, 50);
  atomic_fetch_add(&s->stage->shared->lulls, is_in_lull ? 1 : 0);
  pause_between(s, 0.005, is_in_lull ? 0.15 : 0.01);
  if (atomic_fetch_add(&s->stage->shared->restarting, 1) == 0)
    (void)machine_control(s->stage, server, "restart", dice_chance(&s->dice, 80) ? "immediate" : "fast");
  atomic_fetch_sub(&s->stage->shared->restarting, 1);
  atomic_fetch_sub(&s->stage->shared->lulls, is_in_lull ? 1 : 0);
}

static struct proxy_orders *some_network(struct fault_scene *s) {
  return dice_chance(&s->dice, 50) ? s->source.orders : s->target.orders;
}

static void stall_network(struct fault_scene *s) {
  struct proxy_orders *orders = some_network(s);
  atomic_store(&orders->stalled, true);
  pause_between(s, 0.1, dice_chance(&s->dice, 20) ? 8 : 2);
  atomic_store(&orders->stalled, false);
}

static void cut_network(struct fault_scene *s) {
  atomic_fetch_add(&some_network(s)->cuts, 1);
}

static void break_message(struct fault_scene *s) {
  atomic_fetch_add(&some_network(s)->breaks, 1);
}

static void refuse_connections(struct fault_scene *s) {
  struct proxy_orders *orders = some_network(s);
  atomic_store(&orders->refusing, true);
  atomic_fetch_add(&orders->cuts, 1);
  pause_between(s, 0.1, 2);
  atomic_store(&orders->refusing, false);
}

static void take_all_connections(struct fault_scene *s) {
  PGconn *held[MOST_HELD];
  int count = 0;
  const char *server = either(s, "source", "target");
  while (count < MOST_HELD && (held[count] = stage_try(s->stage, server, "postgres")) != NULL)
    count++;
  pause_between(s, 0.2, 2);
  while (count > 0)
    PQfinish(held[--count]);
}

/* ---- machines ---------------------------------------------------------------------------------------------------- */

/* Whoever cannot write fails, or its whole server goes down; both come back when there is room again. */
static void fill_disk(struct fault_scene *s) {
  const char *server = either(s, "source", "target");
  if (!machine_has_disk(s->stage, server)) {
    say("fill_disk is left out: the %s has no disk of its own", server);
    return;
  }
  unsigned long long left = (unsigned long long)dice_roll(&s->dice, 2) * 1024 * 1024;
  if (dice_chance(&s->dice, 50))
    left = (unsigned long long)dice_roll(&s->dice, 64) * 4096;
  say("the %s has %llu bytes left: %s", server, left, machine_fill_disk(s->stage, server, left) ? "yes" : "no");
  pause_between(s, 1, 6);
  machine_empty_disk(s->stage, server);
  machine_raise(s->stage, server);
}

/* While a server starts, who starts it compares times. */
static void set_clock(struct fault_scene *s, const char *name, long seconds) {
  bool is_server = strncmp(name, "relay", 5) != 0;
  while (is_server && atomic_fetch_add(&s->stage->shared->restarting, 1) != 0) {
    atomic_fetch_sub(&s->stage->shared->restarting, 1);
    pause_for(0.05);
  }
  machine_set_clock(s->stage, name, seconds);
  if (is_server)
    atomic_fetch_sub(&s->stage->shared->restarting, 1);
}

static void jump_clock(struct fault_scene *s) {
  static const long JUMPS[] = {5, 90, 3600, 86400, -5, -90, -3600, -86400};
  char name[20];
  if (!machine_has_clocks()) {
    say("jump_clock is left out: there is no libfaketime");
    return;
  }
  if (dice_chance(&s->dice, 60))
    snprintf(name, sizeof name, "%s", either(s, "source", "target"));
  else
    snprintf(name, sizeof name, "relay.%d", some_relay(s));
  long jump = JUMPS[dice_roll(&s->dice, 8) - 1];
  say("clock %s: %+ld s", name, jump);
  set_clock(s, name, jump);
  pause_between(s, 0.2, 6);
  set_clock(s, name, 0);
  if (strncmp(name, "relay", 5) != 0)
    machine_end_backends(s->stage, name);
}

/* Processes are replaced one by one while the others work, after the schema was brought to what the program wants. */
static void roll_over(struct fault_scene *s) {
  char conninfo[300];
  snprintf(conninfo, sizeof conninfo, "host=%s/source port=5432 user=postgres dbname=work", s->stage->dir);
  run_program(s->stage, "install", (const char *const[]){s->stage->program, "-d", conninfo, "init", NULL});
  for (int i = 0; i < RELAYS; i++) {
    signal_relay(s, i, SIGTERM);
    pause_between(s, 0.1, 1);
  }
}

static void dump_and_restore(struct fault_scene *s) {
  restore_from_dump(s->stage);
}

/* ---- people with psql -------------------------------------------------------------------------------------------- */

static void idle_transaction(struct fault_scene *s) {
  PGconn *connection = stage_try(s->stage, either(s, "source", "target"), "postgres");
  if (connection != NULL && try_sql(connection, "begin isolation level repeatable read; select txid_current()"))
    pause_between(s, 2, 8);
  PQfinish(connection);
}

/* Those that a writer has lost hold back a floor and a copy, as they should, but not for the whole run. */
static void end_prepared(struct fault_scene *s) {
  workload_resolve(s->stage);
}

static void vacuum_full(struct fault_scene *s) {
  static const char *const TABLES[] = {"work.list", "work.churn", "rowrelay.queue", "work.bank", "rowrelay.lane"};
  PGconn *connection = stage_try(s->stage, "source", "work");
  if (connection != NULL && try_sql(connection, "set lock_timeout to '1s'"))
    (void)try_sql(connection, "vacuum full %s", TABLES[dice_roll(&s->dice, 5) - 1]);
  PQfinish(connection);
}

static void alter_table(struct fault_scene *s) {
  static const char *const STATEMENTS[] = {
      "alter table work.churn add column extra int default 7",
      "alter table work.churn rename extra to other",
      "alter table work.churn drop column if exists extra, drop column if exists other",
      "alter table work.list add column if not exists more text default 'more'",
      "alter table work.list drop column if exists more",
  };
  PGconn *connection = stage_try(s->stage, "source", "work");
  if (connection != NULL && try_sql(connection, "set lock_timeout to '1s'"))
    (void)try_sql(connection, "%s", STATEMENTS[dice_roll(&s->dice, 5) - 1]);
  PQfinish(connection);
}

/* Runs a statement of somebody who administers rowrelay; whether it fails is not the question. */
static bool administer(struct fault_scene *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool administer(struct fault_scene *s, const char *format, ...) {
  char statement[400];
  va_list values;
  va_start(values, format);
  vsnprintf(statement, sizeof statement, format, values);
  va_end(values);
  PGconn *source = stage_try(s->stage, "source", "work");
  bool ok = source != NULL && try_sql(source, "set statement_timeout to '20s'") && try_sql(source, "%s", statement);
  PQfinish(source);
  return ok;
}

static const char *some_target(struct fault_scene *s) {
  static const char *const NAMES[] = {"m", "one", "l", "a", "o", "self", "webhook", "file", "d"};
  return NAMES[dice_roll(&s->dice, 9) - 1];
}

static void capture_and_release(struct fault_scene *s) {
  if (administer(s, "select rowrelay.capture_table('work.spare', target => 'w', create_table => true)"))
    pause_between(s, 0.2, 3);
  (void)administer(s, "select rowrelay.release_table('work.spare')");
}

static void pause_target(struct fault_scene *s) {
  const char *name = some_target(s);
  (void)administer(s, "select rowrelay.pause('%s')", name);
  pause_between(s, 0.1, 3);
  while (!administer(s, "select rowrelay.resume('%s')", name))
    pause_for(0.1);
}

/* Not of target "one": a transaction that is larger than its batches would be split. */
static void set_target(struct fault_scene *s) {
  static const char *const NAMES[] = {"m", "l", "a", "o", "self", "webhook", "file"};
  static const char *const OPTIONS[] = {"\"batch_rows\": 3", "\"batch_rows\": 2000", "\"batch_bytes\": 1024",
                                        "\"batch_bytes\": null"};
  (void)administer(s, "select rowrelay.set_target('%s', options => '{%s}')", NAMES[dice_roll(&s->dice, 7) - 1],
                   OPTIONS[dice_roll(&s->dice, 4) - 1]);
}

/* Not of target "o": what it lists may have been delivered, and is then delivered again. */
static void retry_all(struct fault_scene *s) {
  static const char *const NAMES[] = {"m", "one", "l", "a", "self", "webhook", "file"};
  (void)administer(s, "select rowrelay.retry('%s')", NAMES[dice_roll(&s->dice, 7) - 1]);
}

static void replay(struct fault_scene *s) {
  static const char *const NAMES[] = {"a", "self", "webhook", "file"};
  (void)administer(s, "select rowrelay.replay('%s', now() - interval '3 s')", NAMES[dice_roll(&s->dice, 4) - 1]);
}

static void backfill(struct fault_scene *s) {
  static const char *const TABLES[] = {"list", "bank", "churn", "nest"};
  static const char *const NAMES[] = {"m", "one", "l", "a", "webhook", "file"};
  (void)administer(s, "select rowrelay.backfill('work.%s', '%s', copy => false)", TABLES[dice_roll(&s->dice, 4) - 1],
                   NAMES[dice_roll(&s->dice, 6) - 1]);
}

static void verify_and_repair(struct fault_scene *s) {
  static const char *const NAMES[] = {"m", "one", "l"};
  char conninfo[300];
  snprintf(conninfo, sizeof conninfo, "host=%s/source port=5432 user=postgres dbname=work", s->stage->dir);
  run_program(s->stage, "verify",
              (const char *const[]){s->stage->program, "-d", conninfo, "verify", NAMES[dice_roll(&s->dice, 3) - 1],
                                    "--repair", "--wait", "20", NULL});
}

/* Of target w nobody expects that it is complete without a repair. */
static void change_w(struct fault_scene *s) {
  if (atomic_exchange(&s->stage->shared->drifting, true))
    return;
  PGconn *source = stage_try(s->stage, "source", "work");
  if (source == NULL) {
    /* another time */
  } else if (dice_chance(&s->dice, 40)) {
    (void)try_sql(source, "select rowrelay.drop_target('w')");
    pause_between(s, 0, 2);
    (void)(target_add(s->stage, source, "w") && target_route_all(source, "w"));
  } else if (dice_chance(&s->dice, 50)) {
    (void)try_sql(source, "select rowrelay.discard('work.list', 'w')");
    pause_between(s, 0, 1);
    (void)target_route_all(source, "w");
  } else {
    (void)try_sql(source, "select rowrelay.unroute('work.churn', 'w')");
    pause_between(s, 0, 1);
    (void)target_route_all(source, "w");
  }
  PQfinish(source);
  atomic_store(&s->stage->shared->drifting, false);
}

/* A copy of whole tables while they are written. */
static void renew_x(struct fault_scene *s) {
  static const double PATIENCE = 30; /* seconds */
  if (atomic_exchange(&s->stage->shared->renewing, true))
    return;
  atomic_store(&s->stage->shared->half_made, true);
  signal_relay(s, RELAY_OF_X, SIGKILL);
  bool is_made = false;
  for (double until = now() + PATIENCE; now() < until && !is_made; pause_for(is_made ? 0 : 0.3))
    is_made = target_renew(s->stage, "x");
  atomic_store(&s->stage->shared->half_made, !is_made);
  atomic_store(&s->stage->shared->renewing, false);
}

/* ---- functions that are cancelled -------------------------------------------------------------------------------- */

/* Whatever becomes of each of them, the targets have in the end what they should. */
static const char *const FUNCTIONS[] = {
    "rowrelay.capture_table('work.spare', target => 'w', create_table => true)",
    "rowrelay.release_table('work.spare')",
    "rowrelay.capture_table('work.list', before => 'full')",
    "rowrelay.route('work.churn', 'm', create_table => true)",
    "rowrelay.route('work.bank', 'w', create_table => true)",
    "rowrelay.unroute('work.churn', 'w')",
    "rowrelay.discard('work.list', 'w')",
    "rowrelay.pause('l')",
    "rowrelay.resume('l')",
    "rowrelay.set_target('m', options => '{\"batch_rows\": 30}')",
    "rowrelay.retry('m')",
    "rowrelay.replay('file', now() - interval '3 s')",
    "rowrelay.backfill('work.list', 'm', copy => false)",
    "rowrelay.backfill('work.nest', 'l', copy => false)",
    "rowrelay.rebuild('team', '{1,2,3}')",
    "rowrelay.maintain()",
    "rowrelay.index_closed_days()",
    "rowrelay.seal_next()",
    "rowrelay.seal_days()",
    "rowrelay.verify_log()",
    "rowrelay.tick(at_once => true)",
    "rowrelay.changes_since('', 200)",
    "rowrelay.history_of('work.list', '1')",
    "rowrelay.search('w1', 'work.list')",
    "rowrelay.as_of(null::work.list, now())",
    "rowrelay.prune()",
};
#define FUNCTION_COUNT ((int)(sizeof FUNCTIONS / sizeof FUNCTIONS[0]))

/* A session that was cancelled holds nothing any more. */
static void check_session(const struct fault_scene *s, PGconn *source, const char *function) {
  if (ask(source, "select count(*) from pg_locks where pid = pg_backend_pid() and locktype = 'advisory'") <= 0)
    return;
  FILE *file = stage_file(s->stage, "crashed", "a");
  fprintf(file, "a lock is left by %s\n", function);
  fclose(file);
}

static void cancel_functions(struct fault_scene *s) {
  PGconn *source = stage_try(s->stage, "source", "work");
  for (int left = 20; source != NULL && left > 0; left--) {
    const char *function = FUNCTIONS[dice_roll(&s->dice, FUNCTION_COUNT) - 1];
    if (strstr(function, "maintain") != NULL)
      (void)try_sql(source, "delete from rowrelay.job");
    (void)try_sql(source, "set statement_timeout to %d", dice_roll(&s->dice, dice_chance(&s->dice, 50) ? 8 : 120));
    bool is_done = try_sql(source, "select * from %s", function);
    (void)try_sql(source, "set statement_timeout to 0");
    check_session(s, source, function);
    say("%s: %s", function, is_done ? "done" : "not done");
  }
  if (source != NULL) {
    (void)try_sql(source, "set statement_timeout to '20s'");
    (void)try_sql(source, "select rowrelay.resume('l')");
  }
  PQfinish(source);
}

/* What it was told is on its disk before it answers. */
static void kill_stream(struct fault_scene *s) {
  if (s->stage->stream == NULL)
    return;
  bool freezes = dice_chance(&s->dice, 40);
  machine_control_stream(s->stage, freezes ? "freeze" : "kill");
  pause_between(s, 0.1, dice_chance(&s->dice, 20) ? 8 : 2);
  machine_control_stream(s->stage, freezes ? "thaw" : "start");
}

/* ------------------------------------------------------------------------------------------------------------------ */

/* The last ones happen on request only: by name, or with ALL. */
static const struct fault {
  const char *name;
  void (*happen)(struct fault_scene *);
  int weight;
  bool on_request;
} FAULTS[] = {
    {"kill_relay", kill_relay, 8, false},
    {"kill_all_relays", kill_all_relays, 2, false},
    {"end_relay", end_relay, 2, false},
    {"stop_relay", stop_relay, 6, false},
    {"zombie", zombie, 8, false},
    {"late_push", late_push, 8, false},
    {"terminate_backends", terminate_backends, 5, false},
    {"restart", restart, 5, false},
    {"stall_network", stall_network, 4, false},
    {"cut_network", cut_network, 3, false},
    {"break_message", break_message, 4, false},
    {"refuse_connections", refuse_connections, 2, false},
    {"take_all_connections", take_all_connections, 2, false},
    {"idle_transaction", idle_transaction, 3, false},
    {"end_prepared", end_prepared, 6, false},
    {"vacuum_full", vacuum_full, 3, false},
    {"alter_table", alter_table, 6, false},
    {"capture_and_release", capture_and_release, 2, false},
    {"pause_target", pause_target, 3, false},
    {"set_target", set_target, 3, false},
    {"retry_all", retry_all, 2, false},
    {"replay", replay, 3, false},
    {"backfill", backfill, 8, false},
    {"verify_and_repair", verify_and_repair, 3, false},
    {"change_w", change_w, 3, false},
    {"renew_x", renew_x, 5, false},
    {"fill_disk", fill_disk, 4, true},
    {"jump_clock", jump_clock, 6, true},
    {"roll_over", roll_over, 2, true},
    {"dump_and_restore", dump_and_restore, 1, true},
    {"cancel_functions", cancel_functions, 4, true},
    {"kill_stream", kill_stream, 4, true},
};
#define FAULT_COUNT (sizeof FAULTS / sizeof FAULTS[0])

static int weight_of(const struct fault *fault, bool has_all) {
  return fault->on_request && !has_all ? 0 : fault->weight;
}

static const struct fault *choose(struct dice *dice, bool has_all) {
  int all = 0;
  for (size_t i = 0; i < FAULT_COUNT; i++)
    all += weight_of(&FAULTS[i], has_all);
  int left = dice_roll(dice, all);
  size_t i = 0;
  while ((left -= weight_of(&FAULTS[i], has_all)) > 0)
    i++;
  return &FAULTS[i];
}

void fault_happen(struct fault_scene *scene, const char *only) {
  const struct fault *fault = choose(&scene->dice, scene->stage->has_all);
  for (size_t i = 0; only != NULL && i < FAULT_COUNT; i++)
    if (strcmp(FAULTS[i].name, only) == 0)
      fault = &FAULTS[i];
  double began = now();
  say("%s", fault->name);
  fault->happen(scene);
  if (now() > began + 0.5)
    say("%s is over after %.1f s", fault->name, now() - began);
}
