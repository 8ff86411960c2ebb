#include "restore.h"

#include <signal.h>
#include <unistd.h>

#include "workload.h"

#define BEFORE "work_before" /* what is dumped, */
#define AFTER "work_after"   /* and what comes of it; */
#define LIVE "work"          /* one of them has this name in the end */

static bool exists(PGconn *server, const char *database) {
  return ask(server, "select count(*) from pg_database where datname = '%s'", database) == 1;
}

/* Whoever is connected is ended, and transactions that were prepared, too: a dump does not have them. */
static bool put_away(const struct stage *stage, PGconn *server) {
  if (exists(server, BEFORE))
    return !exists(server, LIVE);
  workload_resolve(stage);
  return ask(server, "select count(pg_terminate_backend(pid)) from pg_stat_activity where datname = '%s'", LIVE) >= 0 &&
         try_sql(server, "alter database " LIVE " rename to " BEFORE);
}

static bool copy(const struct stage *stage, PGconn *server) {
  char program[512];
  char database[512];
  char file[512];
  if (!try_sql(server, "drop database if exists " AFTER " with (force)") || !try_sql(server, "create database " AFTER))
    return false;
  snprintf(file, sizeof file, "%s/out/dump", stage->dir);
  snprintf(program, sizeof program, "%s/source/bin/pg_dump", stage->dir);
  snprintf(database, sizeof database, "host=%s/source port=5432 user=postgres dbname=%s", stage->dir, BEFORE);
  bool ok = run_program(stage, "restore",
                        (const char *const[]){program, "-Fc", "-Z1", "-f", file, "-d", database, NULL}) == 0;
  snprintf(program, sizeof program, "%s/source/bin/pg_restore", stage->dir);
  snprintf(database, sizeof database, "host=%s/source port=5432 user=postgres dbname=%s", stage->dir, AFTER);
  ok = ok && run_program(stage, "restore", (const char *const[]){program, "-e", "-d", database, file, NULL}) == 0;
  unlink(file);
  return ok;
}

/*
 * Before applications write. Rows without a key that are queued may have arrived; nobody compares both sides before
 * they are sent again, so they may come twice.
 */
static bool renew_ids(const struct stage *stage) {
  PGconn *restored = stage_try(stage, "source", AFTER);
  bool ok = restored != NULL && try_sql(restored, "select rowrelay.skip_lost_ids()") &&
            try_sql(restored, "insert into work.doubtful select e.target, replace(e.relation::text, 'work.', ''), "
                              "coalesce(e.new_row ->> 'k', e.old_row ->> 'k'), e.change_id from rowrelay.errors e "
                              "where e.message like 'the source was restored from a dump%%'");
  PQfinish(restored);
  return ok;
}

void restore_from_dump(const struct stage *stage) {
  if (atomic_exchange(&stage->shared->resting, true))
    return;
  for (bool is_done = false; !is_done; pause_for(0.2)) {
    for (int i = 0; i < RELAYS; i++)
      if (atomic_load(&stage->shared->relays[i]) > 0)
        kill(atomic_load(&stage->shared->relays[i]), SIGKILL);
    PGconn *server = stage_try(stage, "source", "postgres");
    is_done = server != NULL && put_away(stage, server) && copy(stage, server) && renew_ids(stage) &&
              try_sql(server, "alter database " AFTER " rename to " LIVE) &&
              try_sql(server, "drop database " BEFORE " with (force)");
    PQfinish(server);
  }
  atomic_store(&stage->shared->resting, false);
}

void restore_give_up(const struct stage *stage) {
  PGconn *server = stage_connect(stage, "source", "postgres");
  if (!exists(server, LIVE))
    sql(server, "alter database " BEFORE " rename to " LIVE);
  sql(server, "drop database if exists " BEFORE " with (force)");
  sql(server, "drop database if exists " AFTER " with (force)");
  PQfinish(server);
  atomic_store(&stage->shared->resting, false);
}
