#include "retold.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROBLEM RETOLD_PROBLEM

/* Stories have roles, too; the server is this test's own. Schema rowrelay has an owner who may be no superuser. */
static const char *const ROLES =
    "create role nasty_owner; create role nasty_writer; create role nasty_keeper login superuser;"
    "grant nasty_owner to nasty_keeper; grant pg_execute_server_program to nasty_owner, nasty_writer;"
    "do $$ begin grant usage on language rowrelay to nasty_keeper; exception when undefined_object then null; end $$";

static void install_again(struct fixture *fixture) {
  struct fixture keeper = *fixture;
  rowrelay_ok(fixture, "uninstall", "--force", NULL);
  sql(fixture->at_source, "%s", ROLES);
  char *user = strstr(keeper.source, "user=");
  snprintf(user, sizeof keeper.source - (size_t)(user - keeper.source), "user=nasty_keeper dbname=%s", fixture->name);
  rowrelay_ok(&keeper, "init", NULL);
}

void retold_begin(struct retold *retold, struct fixture *fixture) {
  *retold = (struct retold){.fixture = fixture};
  install_again(fixture);
  replay_begin(fixture->at_source);
  for (int i = 0; i < 2; i++)
    sql(i == 0 ? fixture->at_source : fixture->at_target, "create extension citext");
  rowrelay_ok(fixture, "target", "add", "w", fixture->target_url, NULL);
  retold->other = connect_to(fixture->source, NULL);
  retold->watcher = connect_to(fixture->source, NULL);
}

/* ---- the other session ------------------------------------------------------------------------------------------- */

static void say(const char *statement, const PGresult *result) {
  if (getenv("ROWRELAY_SHOW") != NULL)
    fprintf(stderr, "%s;\n%s", statement, PQresultErrorMessage(result));
}

/* Whether a statement failed because its changes could not be captured, which is never to fail. */
static bool is_harmed(const PGresult *result, char *problem) {
  static const char *const OTHERS = "57014 55P03 40001 40P01"; /* it waited too long, or for others */
  const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char *context = PQresultErrorField(result, PG_DIAG_CONTEXT);
  const char *ours = context != NULL ? strstr(context, "function rowrelay.capture_") : NULL;
  if (ours == NULL || state == NULL || strstr(OTHERS, state) != NULL)
    return false;
  ours += strlen("function rowrelay.capture_");
  if (strchr("0123456789", *ours) == NULL && strncmp(ours, "truncate", 8) != 0)
    return false;
  snprintf(problem, PROBLEM, "a writer fails: %s", PQresultErrorMessage(result));
  return true;
}

/* Lets the other session go on until it has done what it was told to, or waits for a lock. */
static void let_go_on(struct retold *retold) {
  PGconn *other = retold->other;
  double until = seconds_now() + 120;
  while (is_running(other)) {
    if (ask_number(retold->watcher, "select count(*) from pg_locks where pid = %d and not granted",
                   PQbackendPID(other)) > 0)
      return;
    cr_assert(seconds_now() < until, "the other session neither ends nor waits");
    sleep_seconds(0.002);
  }
  for (PGresult *result; (result = PQgetResult(other)) != NULL; PQclear(result)) {
    say("-- the other session", result);
    is_harmed(result, retold->harm);
  }
  if (PQtransactionStatus(other) == PQTRANS_INERROR)
    PQclear(PQexec(other, "rollback"));
}

/* It still waits where the story goes on without it. */
static void let_other(struct retold *retold, const char *statement) {
  if (is_running(retold->other))
    return;
  if (getenv("ROWRELAY_SHOW") != NULL)
    fprintf(stderr, "%s;\n", statement);
  start(retold->other, "%s", statement);
  let_go_on(retold);
  if (getenv("ROWRELAY_SHOW") != NULL && is_running(retold->other))
    fprintf(stderr, "-- the other session waits\n");
}

static bool is_idle(PGconn *session) {
  return PQtransactionStatus(session) == PQTRANS_IDLE;
}

static bool is_prepared(PGconn *source) {
  return ask_number(source, "select count(*) from pg_prepared_xacts where database = current_database()") > 0;
}

/* Whether no transaction is open but for one of the first session. */
static bool is_alone(struct retold *retold) {
  return is_idle(retold->other) && !is_prepared(retold->watcher);
}

/* ---- telling ----------------------------------------------------------------------------------------------------- */

static void begin_again(struct retold *retold, const struct story *story) {
  PGconn *source = retold->fixture->at_source;
  /* The plans of many stories make every alteration slower. */
  if (retold->begun++ % 5 == 0)
    PQreset(source);
  else
    sql(source, "rollback; set lock_timeout = 0");
  if (is_prepared(source))
    sql(source, "rollback prepared 'nasty'");
  let_go_on(retold);
  sql(retold->other, "rollback; set jit = off; set statement_timeout = '2 min'");
  sql(source,
      "set client_min_messages to error; set jit = off; set statement_timeout = '2 min';"
      "select rowrelay.drop_document(t.name) from rowrelay.target t join rowrelay.document d on d.target = t.id "
      "where t.dropped_at is null;"
      "do $$ begin perform rowrelay.release_table(c.relation) from rowrelay.capture c "
      "where c.released_at is null and rowrelay.full_name(c.relation) is not null; end $$;"
      "drop schema if exists nasty cascade; create schema nasty;"
      "update rowrelay.capture set released_at = now() where released_at is null;"
      "delete from rowrelay.queue; delete from rowrelay.refusal;"
      "truncate replay.row, replay.saved, replay.doubled, replay.shared, replay.was, replay.unmirrored, "
      "replay.captured, replay.unknown, rowrelay.gap;"
      "select replay.forget()");
  sql(source, "alter role nasty_keeper %s", story->has_plain_keeper ? "nosuperuser bypassrls" : "superuser");
  sql(source, "update rowrelay.target set options = jsonb_build_object('batch_rows', %d)",
      story->count % 2 == 0 ? 1 : 1000);
  /* While somebody else has what it needs it would wait for ever. */
  sql(source, "set lock_timeout = '300ms'");
  sql(retold->fixture->at_target, "set client_min_messages to error; drop schema if exists nasty cascade; "
                                  "create schema nasty; create collation nasty.folded "
                                  "(provider = icu, locale = 'und-u-ks-level2', deterministic = false)");
}

void retold_end(struct retold *retold) {
  PGconn *source = retold->fixture->at_source;
  PQfinish(retold->other);
  PQfinish(retold->watcher);
  sql(source, "rollback");
  if (is_prepared(source)) /* by the last story, and its database could not be dropped */
    sql(source, "rollback prepared 'nasty'");
}

/* Whether the log lacks what it lists, of some table. */
static bool is_any_unknown(PGconn *session) {
  return ask_number(session, "select count(*) from replay.unknown") > 0;
}

/* Says which documents are not what they are built from. */
static bool are_documents_right(struct retold *retold, char *problem) {
  static const char *const ROWS = "select string_agg(x::text, E'\n' order by x.id) from (select * from nasty.doc) as x";
  const struct fixture *f = retold->fixture;
  if (is_any_unknown(f->at_source) ||
      ask_number(f->at_source,
                 "select count(*) from rowrelay.target where name = 'nasty_doc' and dropped_at is null") == 0)
    return true;
  const char *here = ask(f->at_source, "%s", ROWS);
  const char *there = "";
  if (ask(f->at_target, "select to_regclass('nasty.doc')")[0] != '\0')
    there = ask(f->at_target, "%s", ROWS);
  bool same = strcmp(here, there) == 0;
  if (!same)
    snprintf(problem, PROBLEM, "documents should be\n%s\nand are\n%s", here, there);
  return same;
}

/* Delivers all that is queued; false with what is wrong if that fails, or does not end. */
static bool delivers(struct retold *retold, char *problem) {
  const char *errors;
  pid_t process = fixture_run(retold->fixture, "--until-empty", NULL);
  int status = wait_process(process, 60);
  if (status == -1) {
    stop_process(process, SIGKILL);
    snprintf(problem, PROBLEM, "delivery does not end: %s",
             ask(retold->watcher, "select string_agg(concat_ws(' ', q.change_id, h.op, h.key, q.lane), ', ') from "
                                  "(select * from rowrelay.queue order by change_id limit 9) as q left join "
                                  "rowrelay.change h on h.id = q.change_id"));
  } else if (status != 0 && rowrelay(retold->fixture, NULL, &errors, "run", "--until-empty", NULL) != 0) {
    snprintf(problem, PROBLEM, "%s", errors);
  } else {
    return true;
  }
  return false;
}

/* Says which rows a mirror has not as it should, of the tables whose rows are known. */
static bool are_rows_same(const struct fixture *f, char *problem) {
  PGresult *tables = PQexec(
      f->at_source,
      "select regexp_replace(rowrelay.full_name((l.capture).relation), '_renamed$', ''), m.names, (select "
      "string_agg(r, E'\\n' "
      "order by r collate \"C\") from replay.rows(l.capture, m.shown, replay.condition(l.capture)) as r) "
      "from replay.live l, replay.mirrored(l.capture) as m where exists (select from rowrelay.route r "
      "join rowrelay.target t on t.id = r.target where t.name = 'w' and r.capture = (l.capture).id) and (l.capture).id "
      "not in "
      "(select capture from replay.doubled union all select capture from replay.unmirrored) order by (l.capture).id");
  cr_assert_eq(PQresultStatus(tables), PGRES_TUPLES_OK, "%s", PQerrorMessage(f->at_source));
  bool same = true;
  for (int i = 0; i < PQntuples(tables) && same; i++) {
    const char *name = PQgetvalue(tables, i, 0);
    const char *there = "";
    if (ask(f->at_target, "select to_regclass('%s')", name)[0] != '\0')
      there = ask(f->at_target,
                  "select string_agg(x::text, E'\\n' order by x::text collate \"C\") from (select %s from %s) as x",
                  PQgetvalue(tables, i, 1), name);
    same = strcmp(there, PQgetvalue(tables, i, 2)) == 0;
    if (!same)
      snprintf(problem, PROBLEM, "table %s has (%s)\n%s\nand its mirror\n%s", name, PQgetvalue(tables, i, 1),
               PQgetvalue(tables, i, 2), there);
  }
  PQclear(tables);
  return same;
}

/* Delivers what is queued, and says what a mirror has not as it should. */
static bool is_mirrored(struct retold *retold, char *problem) {
  struct fixture *f = retold->fixture;
  double began = seconds_now();
  retold->delivered++;
  if (!delivers(retold, problem))
    return false;
  retold->seconds += seconds_now() - began;
  /* Changes of a column that the mirror never had, or of a key that it was made without, are listed. */
  sql(f->at_source,
      "insert into replay.unmirrored select c.id from rowrelay.errors e join rowrelay.capture c on "
      "c.relation = e.relation and c.released_at is null where e.message ~ "
      "'in the target has no column .*, but no longer has|in the target has no unique index on the key'"
      /* a mirror has an index of the key that the table had, or will have, and this hands on its values */
      " or (c.key_columns = '{}' and concat(e.message, e.detail) ~ 'violates unique constraint|violates "
      "not-null constraint')");
  const char *refused = ask(
      f->at_source, "select format('%%s %%s of %%s: %%s %%s', e.op, e.key, e.relation, e.message, e.detail) from "
                    "rowrelay.errors e where e.relation not in (select c.relation from replay.unmirrored l join "
                    "rowrelay.capture c on c.id = l.capture) and concat(e.message, e.detail) !~ 'has the same "
                    "key|its key is null' "
                    /* by one of those */
                    "and not (e.key is null and e.state = 'blocked' and exists (select from rowrelay.errors b where "
                    "b.relation = e.relation and concat(b.message, b.detail) ~ 'its key is null')) limit 1");
  if (refused[0] != '\0') {
    snprintf(problem, PROBLEM, "refused: %s", refused);
    return false;
  }
  const char *untold = ask(
      f->at_source, "select format('several rows of %%s have the key %%s, which is not listed', c.relation, d.key) "
                    "from replay.doubled d join rowrelay.capture c on c.id = d.capture where not exists (select from "
                    "rowrelay.errors e where e.relation = c.relation and replay.key_of(c, e.key) = d.key) limit 1");
  if (untold[0] != '\0') {
    snprintf(problem, PROBLEM, "%s", untold);
    return false;
  }
  return are_rows_same(f, problem) && are_documents_right(retold, problem);
}

/*
 * Undoes the last transaction, looks, and takes that back. Triggers and rules of the story are to do nothing then:
 * what they did is in the log.
 */
static bool is_undone(struct retold *retold, char *problem) {
  PGconn *source = retold->fixture->at_source;
  const char *transaction = ask(source, "select replay.last_transaction()");
  const char *wrong = "";
  if (transaction[0] == '\0' || is_any_unknown(source))
    return true;
  sql(source,
      "begin; set local lock_timeout = 0; "
      "select set_config('session_replication_role', 'replica', true) where exists (select from pg_trigger t "
      "join pg_proc p on p.oid = t.tgfoid where p.pronamespace = 'nasty'::regnamespace) "
      "or exists (select from pg_rules r where r.schemaname = 'nasty');"
      /* which makes some fire */
      "do $$ declare t record; begin for t in select g.tgrelid::regclass as relation, g.tgname from pg_trigger g join "
      "pg_proc p on p.oid = g.tgfoid where p.pronamespace = 'nasty'::regnamespace and g.tgenabled in ('A', 'R') loop "
      "execute format('alter table %%s disable trigger %%I', t.relation, t.tgname); end loop; end $$");
  char statement[200];
  snprintf(statement, sizeof statement, "select rowrelay.undo_transaction('%s', true)", transaction);
  PGresult *undone = PQexec(source, statement);
  if (PQresultStatus(undone) == PGRES_TUPLES_OK) {
    retold->undone++;
    wrong = ask(source, "select replay.differs()");
  } else {
    retold->refused++;
    if (getenv("ROWRELAY_SHOW") != NULL)
      fprintf(stderr, "%s", PQerrorMessage(source));
  }
  PQclear(undone);
  if (wrong[0] != '\0')
    snprintf(problem, PROBLEM, "undone: %s", wrong);
  sql(source, "rollback");
  return wrong[0] == '\0';
}

/* Executes what may fail; false if it does not end, or if what is captured makes it fail. */
static bool ends(PGconn *source, const char *statement, char *problem) {
  PGresult *result = PQexec(source, statement);
  const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  bool is_endless = state != NULL && strcmp(state, "57014") == 0; /* by statement_timeout */
  say(statement, result);
  if (is_endless)
    snprintf(problem, PROBLEM, "did not end: %s", statement);
  bool ends_well = !is_endless && !is_harmed(result, problem);
  PQclear(result);
  return ends_well;
}

static bool begins_with(const char *statement, const char *const beginnings[], size_t count) {
  for (size_t i = 0; i < count; i++)
    if (strncmp(statement, beginnings[i], strlen(beginnings[i])) == 0)
      return true;
  return false;
}

/* What alters a table, or how it is captured, without any change of a row. */
static bool is_alteration(const char *statement) {
  static const char *const BEGINNINGS[] = {"alter table nasty.", "select rowrelay.capture_table(",
                                           "select rowrelay.release_table("};
  return begins_with(statement, BEGINNINGS, sizeof BEGINNINGS / sizeof *BEGINNINGS);
}

/* What neither changes a row nor ends a transaction: half of a story, of which nothing is to be seen in the log. */
static bool is_preparation(const char *statement) {
  static const char *const BEGINNINGS[] = {"create ", "alter function ", "grant ", "begin", "savepoint "};
  return begins_with(statement, BEGINNINGS, sizeof BEGINNINGS / sizeof *BEGINNINGS);
}

/* Asks what fails where another session has a lock, or a snapshot is too old: then false, and the transaction is over.
 */
static bool is_answered(PGconn *session, const char *question, char *answer) {
  PGresult *result = PQexec(session, question);
  bool is_good = PQresultStatus(result) == PGRES_TUPLES_OK;
  const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  if (is_good)
    snprintf(answer, PROBLEM, "%s", PQgetvalue(result, 0, 0));
  else
    cr_assert(state != NULL && (strcmp(state, "55P03") == 0 || strcmp(state, "40001") == 0), "%s: %s", question,
              PQerrorMessage(session));
  PQclear(result);
  if (PQtransactionStatus(session) == PQTRANS_INERROR)
    PQclear(PQexec(session, "rollback"));
  return is_good;
}

/*
 * Whatever the other session has open: what it has not committed is not seen, and what it has locked is not altered.
 * What is known of the rows is known to this transaction alone until it is committed.
 */
static bool alters_well(PGconn *session, const char *statement, char *problem) {
  char nothing[PROBLEM];
  /* An old snapshot has no rows of a table that was truncated since, and nothing of that in the log. */
  if (PQtransactionStatus(session) == PQTRANS_INTRANS &&
      strcmp(ask(session, "show transaction_isolation"), "read committed") != 0)
    return true;
  if (!is_answered(session, "select replay.before_alteration()", problem)) {
    problem[0] = '\0';
    return true;
  }
  if (problem[0] != '\0' || !ends(session, statement, problem))
    return false;
  if (PQtransactionStatus(session) == PQTRANS_INERROR)
    PQclear(PQexec(session, "rollback"));
  else
    is_answered(session, "select replay.after_alteration()", nothing);
  return true;
}

static bool other_alters_well(struct retold *retold, const char *statement, char *problem) {
  sql(retold->other, "set lock_timeout = '300ms'");
  bool is_well = alters_well(retold->other, statement, problem);
  sql(retold->other, "set lock_timeout = 0");
  return is_well;
}

static bool is_logged(struct retold *retold, char *problem) {
  PGconn *source = retold->fixture->at_source;
  const char *wrong = ask(source, "select replay.check()");
  snprintf(problem, PROBLEM, "%s", wrong);
  if (wrong[0] == '\0')
    sql(source, "select replay.forget(), replay.save()");
  return wrong[0] == '\0';
}

/* Documents are not built while a transaction that altered their tables is open. */
static bool is_locked(struct retold *retold) {
  return ask_number(retold->watcher, "select count(*) from pg_locks l join pg_class c on c.oid = l.relation where "
                                     "l.mode = 'AccessExclusiveLock' and c.relnamespace = 'nasty'::regnamespace and "
                                     "l.database = (select d.oid from pg_database d where d.datname = "
                                     "current_database())") > 0;
}

static bool is_delivered(struct retold *retold, char *problem) {
  return is_locked(retold) || delivers(retold, problem);
}

/* What is told by the first session. */
static bool first_goes_on(struct retold *retold, const char *statement, char *problem) {
  PGconn *source = retold->fixture->at_source;
  if (!ends(source, statement, problem))
    return false;
  if (PQtransactionStatus(source) == PQTRANS_INERROR)
    PQclear(PQexec(source, "rollback"));
  let_go_on(retold);
  return true;
}

static bool goes_on_well(struct retold *retold, const char *statement, char *problem) {
  PGconn *source = retold->fixture->at_source;
  sql(source, "select setval(to_regclass('nasty.nested'), 1, false)");
  bool is_others = strncmp(statement, NASTY_OTHER, strlen(NASTY_OTHER)) == 0;
  if (is_alteration(is_others ? statement + strlen(NASTY_OTHER) : statement))
    return is_running(retold->other) ||
           (is_others ? other_alters_well(retold, statement, problem) : alters_well(source, statement, problem));
  if (is_others)
    let_other(retold, statement);
  else if (!first_goes_on(retold, statement, problem))
    return false;
  if (retold->harm[0] != '\0') {
    memcpy(problem, retold->harm, PROBLEM);
    return false;
  }
  bool is_all = is_idle(source) && is_alone(retold);
  if (strcmp(statement, NASTY_DELIVER) == 0)
    return is_all ? is_mirrored(retold, problem) : is_delivered(retold, problem);
  if (!is_all || is_preparation(statement))
    return true;
  return strcmp(statement, NASTY_UNDO) == 0 ? is_undone(retold, problem) : is_logged(retold, problem);
}

/* Tells the story; false with what is wrong after the statement `*failed_at`. */
static bool ends_well(struct retold *retold, const struct story *story, char *problem, size_t *failed_at) {
  begin_again(retold, story);
  retold->harm[0] = '\0';
  for (size_t i = 0; i < story->count; i++) {
    *failed_at = i;
    if (!story->left_out[i] && !goes_on_well(retold, story->statements[i], problem))
      return false;
  }
  retold->unjudged += is_any_unknown(retold->watcher);
  return true;
}

/* Leaves out `size` statements before statement `end`; false if none are there, or the story ends well then. */
static bool leave_out(struct retold *retold, struct story *story, size_t end, size_t size, char *problem) {
  bool was_out[NASTY_MOST];
  bool any = false;
  char wrong[PROBLEM];
  size_t last;
  memcpy(was_out, story->left_out, sizeof was_out);
  for (size_t i = end > size ? end - size : 0; i < end; i++) {
    any = any || !story->left_out[i];
    story->left_out[i] = true;
  }
  if (any && !ends_well(retold, story, wrong, &last)) {
    snprintf(problem, PROBLEM, "%s", wrong);
    return true;
  }
  memcpy(story->left_out, was_out, sizeof was_out);
  return false;
}

/* Leaves out what can be left out of a story that ends badly. */
static void shrink(struct retold *retold, struct story *story, char *problem) {
  size_t last = 0;
  bool shorter = true;
  if (ends_well(retold, story, problem, &last))
    return;
  story->count = last + 1;
  for (size_t size = 16; shorter || size > 1; size = size > 1 ? size / 4 : 1) {
    shorter = false;
    for (size_t end = story->count; end > 0; end = end > size ? end - size : 0)
      shorter = leave_out(retold, story, end, size, problem) || shorter;
  }
}

void retold_tell(struct retold *retold, unsigned int seed) {
  static struct story story;
  char problem[PROBLEM];
  size_t last;
  nasty_write(&story, seed, PQserverVersion(retold->fixture->at_source));
  if (ends_well(retold, &story, problem, &last))
    return;
  if (getenv("ROWRELAY_KEEP_ON") != NULL) {
    fprintf(stderr, "---- seed %u: %s\n", seed, problem);
    return;
  }
  shrink(retold, &story, problem);
  fprintf(stderr, "-- ROWRELAY_SEED=%u\ncreate schema nasty;\n", seed);
  for (size_t i = 0; i < story.count; i++)
    if (!story.left_out[i])
      fprintf(stderr, "%s;\n", story.statements[i]);
  cr_assert_fail("seed %u: %s", seed, problem);
}
