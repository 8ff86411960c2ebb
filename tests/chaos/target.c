#include "target.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "receiver.h"
#include "workload.h"

static const char *const TABLES[] = {"list", "bank", "churn", "nest", "ledger"};
#define TABLE_COUNT (sizeof TABLES / sizeof TABLES[0])

/* `holds` is for the checker: what the target has in the end, and what was promised of it. */
static const struct target {
  const char *name;
  const char *holds;
  const char *options;
  bool is_database; /* it has one of its name */
  bool is_watched;
} TARGETS[] = {
    {"m", "rows list bank churn nest ledger", "{\"push_timeout\": 5}", true, true},
    {"one", "rows list bank churn nest ledger", "{\"lanes\": 1, \"batch_rows\": 60, \"push_timeout\": 5}", true, true},
    {"l", "rows list bank churn nest ledger", "{\"claim\": \"lease\", \"lease\": 4, \"push_timeout\": 3, \"lanes\": 7}",
     true, true},
    {"w", "rows list bank churn nest", "{\"batch_rows\": 50}", true, false},
    {"x", "rows list bank churn nest ledger", "{}", true, false},
    {"d", "rows team", "{}", true, false},
    {"a", "events exactly-once", "{\"mode\": \"append\", \"push_timeout\": 5}", true, false},
    {"o", "events at-most-once",
     "{\"mode\": \"append\", \"guarantee\": \"at-most-once\", \"lease\": 6, \"push_timeout\": 5}", true, false},
    {"self", "events exactly-once", "{\"mode\": \"append\"}", false, false},
    {"webhook", "events at-least-once", "{\"timeout\": 2, \"push_timeout\": 10, \"lanes\": 8}", false, false},
    {"file", "events at-least-once", "{\"lanes\": 16}", false, false},
    {"stream", "events at-least-once", "{\"lanes\": 8, \"push_timeout\": 5}", false, false},
};
#define TARGET_COUNT (sizeof TARGETS / sizeof TARGETS[0])

static const char TEAM_QUERY[] =
    "select t.g, t.name, (select string_agg(l.k || ''='' || l.n, '','' order by l.k) from work.list l "
    "where l.g = t.g) as members from work.team t where t.g = any ($1)";

/* ---- making them ------------------------------------------------------------------------------------------------- */

static void write_url(const struct stage *stage, const struct target *target, char *url, size_t size) {
  if (target->is_database)
    snprintf(url, size, "postgresql://postgres@/%s?host=%s/net-target&port=5432", target->name, stage->dir);
  else if (strcmp(target->name, "self") == 0)
    snprintf(url, size, "postgresql:");
  else if (strcmp(target->name, "webhook") == 0)
    snprintf(url, size, "http://127.0.0.1:%d/", atomic_load(&stage->shared->webhook_port));
  else if (strcmp(target->name, "stream") == 0)
    snprintf(url, size, "%s", stage->stream);
  else
    snprintf(url, size, "file:%s/out/lines", stage->dir);
}

static bool is_there(const struct stage *stage, const struct target *target) {
  return stage->stream != NULL || strcmp(target->name, "stream") != 0;
}

static const struct target *find(const char *name) {
  for (size_t i = 0; i < TARGET_COUNT; i++)
    if (strcmp(TARGETS[i].name, name) == 0)
      return &TARGETS[i];
  give_up("there is no target %s", name);
}

bool target_add(const struct stage *stage, PGconn *source, const char *name) {
  char url[512];
  const struct target *target = find(name);
  write_url(stage, target, url, sizeof url);
  return try_sql(source, "select rowrelay.add_target('%s', '%s', '%s')", name, url, target->options);
}

bool target_route_all(PGconn *source, const char *name) {
  bool ok = true;
  bool is_self = strcmp(name, "self") == 0;
  for (size_t i = 0; ok && i < TABLE_COUNT; i++)
    ok = is_self ? try_sql(source, "select rowrelay.route('work.%s', 'self', into_table => 'own.%s_changes')",
                           TABLES[i], TABLES[i])
                 : try_sql(source, "select rowrelay.route('work.%s', '%s', create_table => %s)", TABLES[i], name,
                           strncmp(find(name)->holds, "rows", 4) == 0 ? "true" : "null");
  return ok;
}

static void install(const struct stage *stage) {
  char conninfo[512];
  snprintf(conninfo, sizeof conninfo, "host=%s/source port=5432 user=postgres dbname=work", stage->dir);
  if (run_program(stage, "install", (const char *const[]){stage->program, "-d", conninfo, "init", NULL}) != 0)
    give_up("rowrelay init failed: see install.log");
}

void targets_create(const struct stage *stage) {
  FILE *list = stage_file(stage, "targets", "w");
  PGconn *server = stage_connect(stage, "target", "postgres");
  install(stage);
  PGconn *source = stage_connect(stage, "source", "work");
  for (size_t i = 0; i < TABLE_COUNT; i++)
    sql(source, "select rowrelay.capture_table('work.%s', before => 'full')", TABLES[i]);
  sql(source, "create schema own");
  for (size_t i = 0; i < TARGET_COUNT; i++) {
    const struct target *target = &TARGETS[i];
    if (!is_there(stage, target))
      continue;
    fprintf(list, "%s %s\n", target->name, target->holds);
    if (target->is_database)
      sql(server, "create database %s", target->name);
    if (!target_add(stage, source, target->name))
      give_up("target %s: %s", target->name, PQerrorMessage(source));
    if (strcmp(target->name, "d") == 0)
      sql(source,
          "select rowrelay.add_document('team', 'd', 'g', '%s', '{work.team:g,work.list:g}', create_table => true)",
          TEAM_QUERY);
    else if (!target_route_all(source, target->name))
      give_up("routes to %s: %s", target->name, PQerrorMessage(source));
  }
  PQfinish(source);
  PQfinish(server);
  fclose(list);
}

/* ---- watching them ----------------------------------------------------------------------------------------------- */

#define WATCHED                                                                                                        \
  "select 'list', k, n from work.list union all select 'nest', k, n from work.nest "                                   \
  "union all select 'churn', k, n from work.churn order by 1, 2"
#define MOST_KEYS 256

/* What a watcher has seen: n of each key of a table, 0: no row. */
struct seen {
  long long n[3][MOST_KEYS];
};

static void note_row(struct seen *now_seen, const PGresult *rows, int row) {
  const char *table = PQgetvalue(rows, row, 0);
  int key = atoi(PQgetvalue(rows, row, 1));
  if (key >= 0 && key < MOST_KEYS)
    now_seen->n[*table == 'l' ? 0 : *table == 'n' ? 1 : 2][key] = strtoll(PQgetvalue(rows, row, 2), NULL, 10);
}

/* Writes what has changed since the last look: table, key, n ("0": it has no row), when the look began and ended. */
static void note_changes(FILE *file, struct seen *before, const PGresult *rows, double began) {
  static const char *const NAMES[] = {"list", "nest", "churn"};
  static struct seen after;
  memset(&after, 0, sizeof after);
  for (int row = 0; row < PQntuples(rows); row++)
    note_row(&after, rows, row);
  for (int table = 0; table < 3; table++)
    for (int key = 0; key < MOST_KEYS; key++)
      if (after.n[table][key] != before->n[table][key])
        fprintf(file, "%s %d %lld %.6f %.6f\n", NAMES[table], key, after.n[table][key], began, now());
  *before = after;
}

/* Writes the sum of the bank, when it was read, and what it is made of. */
static void note_sum(FILE *file, PGconn *connection) {
  PGresult *reply = PQexec(connection, "select sum(v), to_char(clock_timestamp(), 'HH24:MI:SS.MS'), "
                                       "string_agg(k || '/' || n || '=' || v, ',' order by k) from work.bank "
                                       "having count(*) > 0");
  if (PQresultStatus(reply) == PGRES_TUPLES_OK && PQntuples(reply) == 1)
    fprintf(file, "%s %s %s\n", PQgetvalue(reply, 0, 0), PQgetvalue(reply, 0, 1), PQgetvalue(reply, 0, 2));
  PQclear(reply);
}

static _Noreturn void watch(const struct stage *stage, const char *name) {
  char path[40];
  static struct seen seen;
  snprintf(path, sizeof path, "%s.watched", name);
  FILE *rows = stage_file(stage, path, "w");
  bool counts = strcmp(name, "one") == 0;
  FILE *sums = counts ? stage_file(stage, "one.sums", "w") : NULL;
  PGconn *connection = NULL;
  while (!atomic_load(&stage->shared->over)) {
    if (connection == NULL || PQstatus(connection) != CONNECTION_OK) {
      PQfinish(connection);
      connection = stage_connect(stage, "target", name);
    }
    double began = now();
    PGresult *reply = PQexec(connection, WATCHED);
    if (PQresultStatus(reply) == PGRES_TUPLES_OK)
      note_changes(rows, &seen, reply, began);
    PQclear(reply);
    for (int i = 0; counts && i < 4; i++) {
      note_sum(sums, connection);
      pause_for(0.01);
    }
    pause_for(counts ? 0 : 0.03);
  }
  fclose(rows);
  if (sums != NULL)
    fclose(sums);
  exit(0);
}

void targets_watch(const struct stage *stage) {
  for (size_t i = 0; i < TARGET_COUNT; i++)
    if (TARGETS[i].is_watched && split() == 0)
      watch(stage, TARGETS[i].name);
}

/* ---- a copy ------------------------------------------------------------------------------------------------------ */

/* How long to wait for a statement or a command: in peace they end, however busy the machine is. */
static const char *patience(const struct stage *stage) {
  return atomic_load(&stage->shared->healthy) ? "300" : "25";
}

/* The command goes through the network that fails; it continues where it was. */
static bool copy_tables(const struct stage *stage, const char *name) {
  char conninfo[512];
  snprintf(conninfo, sizeof conninfo, "host=%s/net-source port=5432 user=postgres dbname=work connect_timeout=5",
           stage->dir);
  for (int tries = 0; tries < 3; tries++)
    if (run_program(stage, "copy",
                    (const char *const[]){"/usr/bin/timeout", patience(stage), stage->program, "-d", conninfo,
                                          "backfill", "work.list", "work.bank", "work.churn", "work.nest",
                                          "work.ledger", "--to", name, NULL}) == 0)
      return true;
  return false;
}

bool target_renew(const struct stage *stage, const char *name) {
  PGconn *source = stage_connect(stage, "source", "work");
  PGconn *server = stage_connect(stage, "target", "postgres");
  bool ok = try_sql(source, "set statement_timeout to '%ss'", patience(stage)) &&
            (ask(source, "select count(*) from rowrelay.targets where name = '%s'", name) == 0 ||
             try_sql(source, "select rowrelay.drop_target('%s')", name));
  ok = ok && try_sql(server, "drop database if exists %s with (force)", name) &&
       try_sql(server, "create database %s", name);
  ok = ok && try_sql(source, "begin") && target_add(stage, source, name) && target_route_all(source, name) &&
       try_sql(source, "commit");
  pause_for(1); /* changes are queued that the copy will have too */
  ok = ok && copy_tables(stage, name);
  if (!ok)
    say("target %s is not renewed: %s%s", name, PQerrorMessage(source), PQerrorMessage(server));
  PQfinish(source);
  PQfinish(server);
  return ok;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

void targets_mend(const struct stage *stage) {
  PGconn *source = stage_connect(stage, "source", "work");
  for (size_t i = 0; i < TARGET_COUNT; i++) {
    (void)try_sql(source, "select rowrelay.resume('%s')", TARGETS[i].name);
    /* what a fault has set: with batches of three rows peace would last for half an hour */
    if (strstr(TARGETS[i].options, "batch_rows") == NULL)
      (void)try_sql(source,
                    "select rowrelay.set_target('%s', options => '{\"batch_rows\": null, \"batch_bytes\": null}')",
                    TARGETS[i].name);
  }
  if (ask(source, "select count(*) from rowrelay.targets where name = 'w'") == 0)
    (void)target_add(stage, source, "w");
  if (!target_route_all(source, "w"))
    give_up("target w: %s", PQerrorMessage(source));
  PQfinish(source);
}

static int64_t count_pending(PGconn *source) {
  return ask(source, "select (select count(*) from rowrelay.queue) + "
                     "(select count(*) from rowrelay.errors where state = 'waiting') + "
                     "(select count(*) from rowrelay.backfills where state not in ('done', 'cancelled'))");
}

bool targets_drain(const struct stage *stage, double seconds) {
  FILE *pending = stage_file(stage, "pending", "a");
  PGconn *source = stage_connect(stage, "source", "work");
  double began = now();
  double moved = began;
  int64_t left = INT64_MAX;
  while (left > 0 && now() < moved + seconds) {
    int64_t count = count_pending(source);
    if (count < 0) {
      say("the source went away: %s", PQerrorMessage(source));
      PQfinish(source);
      pause_for(1);
      source = stage_connect(stage, "source", "work");
    } else if (count < left) {
      left = count;
      moved = now();
    }
    pause_for(0.1);
  }
  say("%lld changes are left after %.1f s", (long long)left, now() - began);
  PGresult *rows =
      PQexec(source, "select coalesce(t.name, '?'), count(*) from rowrelay.queue q left join rowrelay.target t "
                     "on t.id = rowrelay.lane_target(q.lane) group by 1 "
                     "union all select target || '(waiting)', count(*) from rowrelay.errors "
                     "where state = 'waiting' group by 1");
  for (int i = 0; i < PQntuples(rows); i++) {
    fprintf(pending, "%s %s\n", PQgetvalue(rows, i, 0), PQgetvalue(rows, i, 1));
    say("%s changes for target %s are left", PQgetvalue(rows, i, 1), PQgetvalue(rows, i, 0));
  }
  PQclear(rows);
  PQfinish(source);
  fclose(pending);
  return left == 0;
}

/* Writes the rows of a reply, one a line, words separated by blanks. */
static void dump(PGconn *connection, FILE *file, const char *statement) {
  PGresult *rows = PQexec(connection, statement);
  if (PQresultStatus(rows) != PGRES_TUPLES_OK && strstr(PQerrorMessage(connection), "does not exist") == NULL)
    give_up("%s: %.200s", PQerrorMessage(connection), statement);
  for (int row = 0; row < PQntuples(rows); row++)
    for (int column = 0; column < PQnfields(rows); column++)
      fprintf(file, "%s%c", PQgetisnull(rows, row, column) ? "-" : PQgetvalue(rows, row, column),
              column + 1 == PQnfields(rows) ? '\n' : ' ');
  PQclear(rows);
}

#define ROWS_OF "select '%s', k, n, replace(v::text, ' ', ',') from %s"
#define TEAMS "select 'team', g, 0, coalesce(members, '-') from "
#define EVENTS_OF                                                                                                      \
  "select '%s', case when op = 'truncate' then '-' else coalesce(key, new_row ->> 'k', old_row ->> 'k') end, "         \
  "left(op, 1), case left(op, 1) when 'd' then old_row ->> 'n' when 't' then '0' else new_row ->> 'n' end, change_id " \
  "from %s_changes order by position"

static void dump_tables(PGconn *connection, FILE *file, bool has_rows) {
  char statement[1024];
  for (size_t i = 0; i < TABLE_COUNT; i++) {
    if (has_rows)
      snprintf(statement, sizeof statement, ROWS_OF, TABLES[i], TABLES[i]);
    else
      snprintf(statement, sizeof statement, EVENTS_OF, TABLES[i], TABLES[i]);
    dump(connection, file, statement);
  }
}

static void dump_target(const struct stage *stage, const struct target *target) {
  char path[40];
  bool is_self = strcmp(target->name, "self") == 0;
  bool has_rows = strncmp(target->holds, "rows", 4) == 0;
  snprintf(path, sizeof path, "%s.%s", target->name, has_rows ? "rows" : "events");
  FILE *file = stage_file(stage, path, "w");
  PGconn *connection = is_self ? stage_connect(stage, "source", "work") : stage_connect(stage, "target", target->name);
  sql(connection, "set search_path to %s, public", is_self ? "own" : "work");
  if (strcmp(target->name, "d") == 0)
    dump(connection, file, TEAMS "public.team");
  else
    dump_tables(connection, file, has_rows);
  PQfinish(connection);
  fclose(file);
}

/* Each line of DIR/FROM that begins so is an event. */
static void dump_lines(const struct stage *stage, const char *from, const char *begin, const char *to) {
  char *line = NULL;
  size_t size = 0;
  FILE *lines = stage_file(stage, from, "r");
  FILE *events = stage_file(stage, to, "w");
  while (getline(&line, &size, lines) > 0)
    if (strncmp(line, begin, strlen(begin)) == 0 && !receiver_write_event(events, line))
      fprintf(events, "broken - ? 0 0\n");
  free(line);
  fclose(events);
  fclose(lines);
}

/* Its entries, a name or a value a line. */
static void dump_stream(const struct stage *stage) {
  char server[200];
  snprintf(server, sizeof server, "%.*s", (int)(strrchr(stage->stream, '/') - stage->stream), stage->stream);
  if (run_program(stage, "stream",
                  (const char *const[]){"/usr/bin/redis-cli", "-u", server, "--raw", "xrange",
                                        strrchr(stage->stream, '/') + 1, "-", "+", NULL}) != 0)
    give_up("the stream cannot be read: see stream.log");
  dump_lines(stage, "stream.log", "{\"specversion\":", "stream.events");
}

static void dump_source(const struct stage *stage) {
  PGconn *source = stage_connect(stage, "source", "work");
  FILE *rows = stage_file(stage, "source.rows", "w");
  sql(source, "set search_path to work, public");
  dump_tables(source, rows, true);
  dump(source, rows,
       TEAMS "(select t.g, (select string_agg(l.k || '=' || l.n, ',' order by l.k) from work.list l where l.g = t.g) "
             "as members from work.team t) as t");
  fclose(rows);
  FILE *truth = stage_file(stage, "truth", "w");
  dump(source, truth, "select tab, k, n, op, mark, token, optional from work.truth order by tab, k, n");
  fclose(truth);
  FILE *given_up = stage_file(stage, "given-up", "w");
  dump(source, given_up,
       "select e.target, replace(e.relation::text, 'work.', ''), case when e.op = 'truncate' then '-' else "
       "coalesce(e.key, e.new_row ->> 'k', e.old_row ->> 'k') end, e.change_id from rowrelay.errors e "
       "union select d.target, d.tab, d.k, d.id from work.doubtful d order by 1, 4");
  fclose(given_up);
  PQfinish(source);
}

void targets_dump(const struct stage *stage) {
  dump_source(stage);
  for (size_t i = 0; i < TARGET_COUNT; i++)
    if (TARGETS[i].is_database || strcmp(TARGETS[i].name, "self") == 0)
      dump_target(stage, &TARGETS[i]);
  dump_lines(stage, "out/lines", "", "file.events");
  if (stage->stream != NULL)
    dump_stream(stage);
}
