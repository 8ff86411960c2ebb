/*
 * chaos: writers at work, processes of rowrelay that deliver to a target of each kind, and faults, for some time; then
 * peace, until everything should have arrived. Whether it has, and in order, the checker says: check.c.
 *
 *   chaos DIR ROOT PROGRAM SEED SECONDS [FAULT]    DIR has servers "source" and "target", started by chaos.sh
 *
 * ALL, CLOCK_LIBRARY, SOURCE_OFFSET and STREAM in the environment: see chaos.sh.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dice.h"
#include "fault.h"
#include "machine.h"
#include "proxy.h"
#include "receiver.h"
#include "restore.h"
#include "stage.h"
#include "target.h"
#include "workload.h"

#define FAULTS_AT_ONCE 3
#define LONGEST_FAULT 45 /* seconds to wait for those that have begun */
#define TRICKLE 8
#define DRAIN 150

struct run {
  struct stage stage;
  struct proxy source;
  struct proxy target;
  pid_t faults[FAULTS_AT_ONCE];
  int fault_count; /* so far */
  double start_again[RELAYS];
  const char *only;
};

/* ---- processes of rowrelay --------------------------------------------------------------------------------------- */

static void start_relay(struct run *run, int i) {
  char conninfo[400];
  char log[400];
  snprintf(conninfo, sizeof conninfo, "host=%s port=5432 user=postgres dbname=work connect_timeout=5", run->source.dir);
  snprintf(log, sizeof log, "%s/relay.%d.log", run->stage.dir, i);
  char clock[20];
  snprintf(clock, sizeof clock, "relay.%d", i);
  pid_t child = split();
  if (child == 0) {
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    machine_wear_clock(&run->stage, clock);
    if (i == RELAY_OF_X)
      execl(run->stage.program, "rowrelay", "-d", conninfo, "run", "--workers", "2", "--target", "x", "--target", "w",
            (char *)NULL);
    execl(run->stage.program, "rowrelay", "-d", conninfo, "run", "--workers", "2", "--target", "m", "--target", "one",
          "--target", "l", "--target", "d", "--target", "a", "--target", "o", "--target", "self", "--target", "webhook",
          "--target", "file", run->stage.stream == NULL ? (char *)NULL : "--target", "stream", (char *)NULL);
    _exit(127);
  }
  atomic_store(&run->stage.shared->relays[i], child);
}

static void signal_relays(const struct run *run, int number) {
  for (int i = 0; i < RELAYS; i++)
    if (atomic_load(&run->stage.shared->relays[i]) > 0)
      kill(atomic_load(&run->stage.shared->relays[i]), number);
}

static void note_crash(const struct run *run, int relay, int number) {
  FILE *crashed = stage_file(&run->stage, "crashed", "a");
  fprintf(crashed, "rowrelay process %d: signal %d\n", relay, number);
  fclose(crashed);
  say("process %d of rowrelay crashed with signal %d", relay, number);
}

/* Forgets a process that has ended. */
static void lose_relay(struct run *run, pid_t ended, int status) {
  for (int i = 0; i < RELAYS; i++) {
    if (atomic_load(&run->stage.shared->relays[i]) != ended)
      continue;
    if (WIFEXITED(status))
      say("process %d of rowrelay ended with %d", i, WEXITSTATUS(status));
    else if (WTERMSIG(status) != SIGKILL && WTERMSIG(status) != SIGTERM) /* it was told to stop before it could hear */
      note_crash(run, i, WTERMSIG(status));
    atomic_store(&run->stage.shared->relays[i], 0);
    run->start_again[i] = now() + (WIFEXITED(status) ? 0.5 : 0);
  }
}

/* Forgets children that have ended, and replaces those that should not. */
static void reap(struct run *run) {
  int status = 0;
  pid_t ended;
  while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
    for (int i = 0; i < FAULTS_AT_ONCE; i++)
      if (run->faults[i] == ended)
        run->faults[i] = 0;
    lose_relay(run, ended, status);
  }
  for (int i = 0; i < RELAYS; i++)
    if (atomic_load(&run->stage.shared->relays[i]) == 0 && now() >= run->start_again[i] &&
        !atomic_load(&run->stage.shared->resting) && !(i == RELAY_OF_X && atomic_load(&run->stage.shared->renewing)))
      start_relay(run, i);
}

static bool is_any_relay_missing(const struct run *run) {
  for (int i = 0; i < RELAYS; i++)
    if (atomic_load(&run->stage.shared->relays[i]) == 0)
      return true;
  return false;
}

static void await_relays(struct run *run) {
  for (double until = now() + LONGEST_FAULT; now() < until && is_any_relay_missing(run); pause_for(0.05))
    reap(run);
}

/* ---- faults ------------------------------------------------------------------------------------------------------ */

static void begin_fault(struct run *run, int slot) {
  char name[40];
  snprintf(name, sizeof name, "fault %d", ++run->fault_count);
  run->faults[slot] = split();
  if (run->faults[slot] == 0) {
    struct fault_scene scene = {.stage = &run->stage, .source = run->source, .target = run->target};
    scene.dice = dice_of(run->stage.seed, name);
    fault_happen(&scene, run->only);
    exit(0);
  }
}

static void let_faults_happen(struct run *run) {
  struct dice dice = dice_of(run->stage.seed, "faults");
  double next = now() + 1;
  for (double until = now() + run->stage.seconds; now() < until; pause_for(0.02)) {
    reap(run);
    if (now() < next)
      continue;
    for (int slot = 0; slot < FAULTS_AT_ONCE; slot++)
      if (run->faults[slot] == 0) {
        begin_fault(run, slot);
        break;
      }
    next = now() + dice_seconds(&dice, 0.1, 1.4);
  }
}

static bool are_faults_over(const struct run *run) {
  for (int slot = 0; slot < FAULTS_AT_ONCE; slot++)
    if (run->faults[slot] != 0)
      return false;
  return true;
}

static void make_peace(struct run *run) {
  atomic_store(&run->stage.shared->writing, false);
  for (double until = now() + LONGEST_FAULT; now() < until && !are_faults_over(run); pause_for(0.05))
    reap(run);
  for (int slot = 0; slot < FAULTS_AT_ONCE; slot++)
    if (run->faults[slot] != 0) {
      say("a fault is ended");
      kill(run->faults[slot], SIGKILL);
    }
  proxy_heal(&run->source);
  proxy_heal(&run->target);
  atomic_store(&run->stage.shared->restarting, 0); /* whoever was at it has ended */
  atomic_store(&run->stage.shared->lulls, 0);
  atomic_store(&run->stage.shared->healthy, true);
  machine_heal(&run->stage);
  if (atomic_load(&run->stage.shared->resting))
    restore_give_up(&run->stage);
  atomic_store(&run->stage.shared->renewing, false);
  signal_relays(run, SIGCONT);
}

/* ------------------------------------------------------------------------------------------------------------------ */

static void begin(struct run *run) {
  char path[512];
  struct stage *stage = &run->stage;
  snprintf(path, sizeof path, "%s/out", stage->dir);
  mkdir(path, 0755);
  machine_heal(stage);
  proxy_begin(&run->source, stage, "source");
  proxy_begin(&run->target, stage, "target");
  receiver_begin(stage);
  workload_create(stage);
  targets_create(stage);
  for (int i = 0; i < RELAYS; i++)
    start_relay(run, i);
  workload_begin(stage);
  workload_start(stage);
  targets_watch(stage);
  atomic_store(&stage->shared->writing, true);
}

/* What is not expected to be complete by itself. */
static void repair(struct run *run) {
  struct stage *stage = &run->stage;
  char conninfo[400];
  snprintf(conninfo, sizeof conninfo, "host=%s/source port=5432 user=postgres dbname=work", stage->dir);
  targets_mend(stage);
  /* That of x and w ends where a fault has dropped one of them: it begins when both are there. */
  atomic_store(&stage->shared->renewing, true);
  pid_t of_x = atomic_exchange(&stage->shared->relays[RELAY_OF_X], 0);
  if (of_x > 0 && kill(of_x, SIGKILL) == 0)
    waitpid(of_x, NULL, 0);
  if (atomic_load(&stage->shared->half_made) && !target_renew(stage, "x"))
    give_up("target x cannot be made anew");
  atomic_store(&stage->shared->renewing, false);
  await_relays(run);
  (void)targets_drain(stage, DRAIN); /* what a target's tables are made for is delivered: they are there */
  int status = run_program(stage, "repair",
                           (const char *const[]){stage->program, "-d", conninfo, "verify", "w", "--repair", NULL});
  say("verify w --repair ended with %d", status);
}

static void finish(struct run *run) {
  const struct stage *stage = &run->stage;
  make_peace(run);
  workload_resolve(stage);
  repair(run);
  if (targets_drain(stage, DRAIN)) {
    workload_trickle(stage, TRICKLE);
    (void)targets_drain(stage, DRAIN);
  }
  atomic_store(&stage->shared->over, true);
  pause_for(0.3);
  targets_dump(stage);
}

static bool is_set(const char *name) {
  const char *value = getenv(name);
  return value != NULL && *value != '\0';
}

int main(int count, char *words[]) {
  if (count < 6) {
    fprintf(stderr, "usage: chaos DIR ROOT PROGRAM SEED SECONDS [FAULT]\n");
    return 2;
  }
  struct run run = {
      .stage = {.dir = words[1],
                .root = words[2],
                .program = words[3],
                .seed = strtoull(words[4], NULL, 10),
                .seconds = strtod(words[5], NULL),
                .source_offset = strtol(getenv("SOURCE_OFFSET") == NULL ? "0" : getenv("SOURCE_OFFSET"), NULL, 10),
                .has_all = is_set("ALL"),
                .stream = is_set("STREAM") ? getenv("STREAM") : NULL},
      .only = count > 6 ? words[6] : NULL};
  run.stage.shared = mmap(NULL, sizeof *run.stage.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  begin(&run);
  let_faults_happen(&run);
  finish(&run);
  signal_relays(&run, SIGTERM);
  return 0;
}
