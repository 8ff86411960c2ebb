#include "machine.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE 100 /* seconds for a server to start */

static const char *const NAMES[SERVERS] = {"source", "target"};

/* ---- clocks ------------------------------------------------------------------------------------------------------ */

bool machine_has_clocks(void) {
  const char *library = getenv("CLOCK_LIBRARY");
  return library != NULL && *library != '\0';
}

static void name_clock(const struct stage *stage, const char *name, char *path, size_t size) {
  snprintf(path, size, "%s/clock.%s", stage->dir, name);
}

void machine_set_clock(const struct stage *stage, const char *name, long seconds) {
  char path[400];
  char whole[400];
  char part[60];
  /* so that nobody reads half of it; many may write it at once */
  snprintf(part, sizeof part, "clock.part.%ld", (long)getpid());
  FILE *file = stage_file(stage, part, "w");
  bool is_behind = strcmp(name, "source") == 0 && !atomic_load(&stage->shared->healthy);
  long offset = seconds + (is_behind ? stage->source_offset : 0);
  fprintf(file, "%+ld\n", offset);
  fclose(file);
  snprintf(path, sizeof path, "%s/%s", stage->dir, part);
  name_clock(stage, name, whole, sizeof whole);
  if (chmod(path, 0644) != 0 || rename(path, whole) != 0)
    give_up("cannot set the clock %s", whole);
}

void machine_wear_clock(const struct stage *stage, const char *name) {
  char path[400];
  name_clock(stage, name, path, sizeof path);
  if (!machine_has_clocks() || access(path, R_OK) != 0)
    return;
  setenv("LD_PRELOAD", getenv("CLOCK_LIBRARY"), 1);
  setenv("FAKETIME_TIMESTAMP_FILE", path, 1);
  setenv("FAKETIME_CACHE_DURATION", "1", 1);
  setenv("FAKETIME_DONT_FAKE_MONOTONIC", "1", 1);
  setenv("FAKETIME_FORCE_MONOTONIC_FIX", "0", 1); /* else pthread_cond_timedwait() never waits: see chaos.sh */
}

/* ---- servers ----------------------------------------------------------------------------------------------------- */

int machine_control(const struct stage *stage, const char *server, const char *command, const char *mode) {
  char pg[512];
  char dir[512];
  snprintf(pg, sizeof pg, "%s/tests/support/pg.sh", stage->root);
  snprintf(dir, sizeof dir, "%s/%s", stage->dir, server);
  pid_t child = split();
  if (child == 0) {
    machine_wear_clock(stage, server);
    exit(run_program(stage, command, (const char *const[]){pg, command, dir, mode, NULL}));
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static bool can_connect(const struct stage *stage, const char *server) {
  PGconn *connection = stage_try(stage, server, "postgres");
  PQfinish(connection);
  return connection != NULL;
}

void machine_control_stream(const struct stage *stage, const char *command) {
  char redis[512];
  char dir[512];
  snprintf(redis, sizeof redis, "%s/tests/support/redis.sh", stage->root);
  snprintf(dir, sizeof dir, "%s/redis", stage->dir);
  (void)run_program(stage, "redis", (const char *const[]){redis, command, dir, NULL});
}

void machine_raise(const struct stage *stage, const char *server) {
  for (double until = now() + PATIENCE; now() < until; pause_for(0.2)) {
    if (can_connect(stage, server))
      return;
    bool is_ours = atomic_fetch_add(&stage->shared->restarting, 1) == 0;
    bool is_up = is_ours && machine_control(stage, server, "start", NULL) == 0;
    atomic_fetch_sub(&stage->shared->restarting, 1);
    if (is_up)
      return;
  }
  say("the %s does not start: see start.log", server);
}

void machine_end_backends(const struct stage *stage, const char *server) {
  PGconn *connection = stage_try(stage, server, "postgres");
  if (connection != NULL)
    (void)ask(connection, "select count(pg_terminate_backend(pid)) from pg_stat_activity "
                          "where backend_type = 'client backend' and pid <> pg_backend_pid()");
  PQfinish(connection);
}

/* ---- disks ------------------------------------------------------------------------------------------------------- */

static void name_disk(const struct stage *stage, const char *server, char *path, size_t size) {
  snprintf(path, size, "%s/%s/data", stage->dir, server);
}

bool machine_has_disk(const struct stage *stage, const char *server) {
  char data[512];
  char above[512];
  struct stat in_data;
  struct stat in_above;
  name_disk(stage, server, data, sizeof data);
  snprintf(above, sizeof above, "%s/%s", stage->dir, server);
  return stat(data, &in_data) == 0 && stat(above, &in_above) == 0 && in_data.st_dev != in_above.st_dev;
}

static bool set_size(const char *data, unsigned long long bytes) {
  char size[60];
  snprintf(size, sizeof size, "size=%llu", bytes);
  return mount("none", data, "tmpfs", MS_REMOUNT, size) == 0;
}

bool machine_fill_disk(const struct stage *stage, const char *server, unsigned long long left) {
  char data[512];
  struct statvfs is;
  name_disk(stage, server, data, sizeof data);
  return machine_has_disk(stage, server) && statvfs(data, &is) == 0 &&
         set_size(data, (unsigned long long)(is.f_blocks - is.f_bfree) * is.f_frsize + left);
}

void machine_empty_disk(const struct stage *stage, const char *server) {
  char data[512];
  name_disk(stage, server, data, sizeof data);
  if (machine_has_disk(stage, server) && !set_size(data, DISK_BYTES))
    give_up("%s cannot have its size back", data);
}

/* ------------------------------------------------------------------------------------------------------------------ */

void machine_heal(const struct stage *stage) {
  for (int i = 0; i < SERVERS; i++) {
    machine_empty_disk(stage, NAMES[i]);
    if (machine_has_clocks())
      machine_set_clock(stage, NAMES[i], 0);
    machine_raise(stage, NAMES[i]);
    if (machine_has_clocks())
      machine_end_backends(stage, NAMES[i]);
  }
  if (stage->stream != NULL) {
    machine_control_stream(stage, "thaw");
    machine_control_stream(stage, "start");
  }
  for (int i = 0; i < RELAYS && machine_has_clocks(); i++) {
    char name[20];
    snprintf(name, sizeof name, "relay.%d", i);
    machine_set_clock(stage, name, 0);
  }
}
