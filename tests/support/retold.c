#include "retold.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROBLEM 2000

/*
 * What a target does with the log that takes one change at a time: replay() goes on from where it was, and says what is
 * wrong. A row of a table without a key must be there when it is taken out.
 */
static const char *const REPLAY =
    "create schema replay;"
    /* the changes after `floor` that were replayed; others with lower numbers may be committed later */
    "create table replay.applied (id bigint primary key); create table replay.floor (id bigint); insert into "
    "replay.floor values (0);"
    /* keys that several rows have, or had: the list of errors must have them as long as a mirror may lack a row */
    "create table replay.doubled (capture int, key text);"
    /* the rows of the tables: of generation 1 before the last transaction, of generation 2 after it */
    "create table replay.saved (generation int, capture int, image text, last_id bigint);"
    /* equal keys have one text here */
    "create function replay.key_of(c rowrelay.capture, key text) returns text language sql as $$"
    "  select case when c.key_is_exact then key "
    "              else lower(regexp_replace(regexp_replace(key, '(\\.[0-9]*?)0+(?![0-9])', '\\1', 'g'), "
    "'\\.(?![0-9])|-(?=0(?![.0-9]))', '', 'g')) end $$;"
    "create view replay.live as select c as capture from rowrelay.capture c"
    "  where c.released_at is null and rowrelay.full_name(c.relation) is not null;"
    /* stale: columns that came, or got other values, when the table was altered; a mirror does not know these yet */
    "create table replay.row (capture int, key text, image text, stale text[] default '{}');"
    "create index on replay.row (capture, key); create index on replay.row using hash (image);"
    /* without a key, whose mirror does not find rows any more that had other columns when they came */
    "create table replay.unmirrored (capture int);"
    "create table replay.was (capture int, place bigint, image text, is_kept bool, key text);"
    "create function replay.apply(c rowrelay.capture) returns text language plpgsql as $$"
    "declare ch rowrelay.change; begin"
    "  for ch in with new as (insert into replay.applied select x.id from rowrelay.change x "
    "            where x.capture = c.id and x.id > (select f.id from replay.floor f) "
    "            and not exists (select from replay.applied a where a.id = x.id) returning id) "
    "            select x.* from rowrelay.change x where x.op not in ('r', 'b') "
    "            and x.id > (select f.id from replay.floor f) and x.id in (select n.id from new n) order by x.id loop"
    "    if ch.caveat ->> 'problem' like '%has the same key' then"
    "      insert into replay.doubled values (c.id, replay.key_of(c, ch.key)); continue; end if;"
    "    continue when ch.caveat ->> 'problem' = 'its key is null';"
    "    if ch.caveat ->> 'problem' is not null then return format('change %s: %s', ch.id, ch.caveat ->> 'problem'); "
    "end if;"
    "    if ch.op = 't' and ch.new_row is null then delete from replay.row r where r.capture = c.id; continue; end if;"
    "    if ch.op = 't' then"
    "      execute format('delete from replay.row r where r.capture = $1 and (select %s from "
    "json_populate_record(null::%s, r.image::json))',"
    "                     ch.new_row ->> 'where', c.relation) using c.id;"
    "      continue;"
    "    end if;"
    "    if ch.key is not null then"
    "      delete from replay.row r where r.capture = c.id and r.key = replay.key_of(c, ch.key);"
    "    elsif ch.old_row is not null then"
    "      delete from replay.row r where r.ctid = (select x.ctid from replay.row x where x.capture = c.id and x.image "
    "= ch.old_row::jsonb::text limit 1);"
    "      if not found then return format('change %s takes out a row that is not there: %s', ch.id, ch.old_row); end "
    "if;"
    "    end if;"
    "    if ch.op <> 'd' then insert into replay.row values (c.id, replay.key_of(c, ch.key), ch.new_row::jsonb::text, "
    "'{}'); "
    "end if;"
    "  end loop;"
    "  return null; end $$;"
    /* while no transaction is open */
    "create function replay.forget() returns void language sql as $$"
    "  delete from replay.applied;"
    "  update replay.floor f set id = coalesce((select max(x.id) from rowrelay.change x), 0) $$;"
    /* the columns that are captured, and what is captured of them */
    "create function replay.columns(c rowrelay.capture) returns table (name text, shown text) language sql as $$"
    "  select quote_ident(a.attname),"
    "         case when i.masks::jsonb ? a.attname then format('%L::%s as %I', i.masks ->> a.attname,"
    "                                                          format_type(a.atttypid, a.atttypmod), a.attname)"
    "              else format('new.%I', a.attname) end"
    "    from rowrelay.image_columns(c) as i, pg_attribute a"
    "   where a.attrelid = c.relation and a.attnum > 0 and not a.attisdropped"
    "     and (i.keep is null or a.attname = any (i.keep)) and a.attname <> all (i.leave_out)"
    "   order by a.attname $$;"
    "create function replay.shown(c rowrelay.capture) returns text language sql as $$"
    "  select string_agg(k.shown, ', ') from replay.columns(c) as k $$;"
    /* which rows a target gets: a row with a null in its key has none */
    "create function replay.condition(c rowrelay.capture) returns text language sql as $$"
    "  select concat_ws(' and ', '(' || coalesce(rowrelay.filter_condition(c), 'true') || ') is true', "
    "string_agg(format('new.%I is not null', a.attname), ' and '))"
    "    from pg_attribute a where a.attrelid = c.relation and a.attnum = any (rowrelay.live_key(c)) $$;"
    /* the rows of a table in the order of its pages, and whether they meet the filter */
    "create function replay.held(c rowrelay.capture) returns table (place bigint, image text, is_kept bool, key text) "
    "language plpgsql as $$ begin"
    "  return query execute format('select row_number() over (order by new.tableoid, new.ctid), "
    "(select to_jsonb(x)::text from (select %s) as x), %s, replay.key_of($1, (%s)::text collate \"C\") from "
    "%s as new', "
    "    replay.shown(c), replay.condition(c), "
    "    rowrelay.key_expression(c.relation, rowrelay.live_key(c), 'new'), c.relation) using c; end $$;"
    /*
     * Where one row is left, a mirror has it, unless what came last was the delete of another one with its key, or was
     * listed itself: in an older snapshot both rows are there.
     */
    "create function replay.settle(c rowrelay.capture) returns void language sql as $$"
    "  with held as (select h.key, count(*) as n from replay.held(c) as h where h.is_kept group by h.key)"
    "  delete from replay.doubled d where d.capture = c.id"
    "     and coalesce((select h.n from held h where h.key = d.key), 0) = "
    "         (select case when x.op = 'd' then 0 when x.caveat ->> 'problem' is null then 1 end from rowrelay.change "
    "x "
    "           where x.capture = c.id and replay.key_of(c, x.key) = d.key and x.op <> 'r' order by x.id desc limit 1) "
    "$$;"
    "create function replay.compare(c rowrelay.capture) returns text language sql as $$"
    "  with held as (select h.image from replay.held(c) as h where h.is_kept and not exists "
    "                (select from replay.doubled d where d.capture = c.id and d.key = h.key)),"
    "       logged as (select r.image from replay.row r where r.capture = c.id and not exists "
    "                  (select from replay.doubled d where d.capture = c.id and d.key = r.key))"
    "  select string_agg(what, E'\\n') from ("
    "(select 'only in the table: ' || image as what from (select * from held except all select * from logged) as a) "
    "union all "
    "(select 'only in the log: ' || image from (select * from logged except all select * from held) as b)) as u $$;"
    "create function replay.check() returns text language plpgsql as $$"
    "declare c rowrelay.capture; problem text; begin"
    "  for c in select x.* from rowrelay.capture x where x.released_at is null order by x.id loop"
    "    problem := replay.apply(c);"
    "    perform replay.settle(c) where exists (select from replay.doubled d where d.capture = c.id);"
    "    problem := coalesce(problem, replay.compare(c));"
    "    if problem is not null then return format('table %s: %s', c.relation, problem); end if;"
    "  end loop; return ''; end $$;"
    /*
     * No row changes its place when a table is altered, or is captured with other options. The rows of the log get
     * the shape that the table has after it; a mirror learns of that when a row is written again.
     */
    "create table replay.captured (capture int, relation oid, key_columns smallint[], row_filter text);"
    "create function replay.before_alteration() returns text language plpgsql as $$"
    "declare problem text; begin"
    "  lock table replay.applied in exclusive mode; problem := replay.check();"
    "  delete from replay.was; delete from replay.saved; delete from replay.captured;"
    "  insert into replay.captured select c.id, c.relation, c.key_columns, c.row_filter from rowrelay.capture c "
    "where c.released_at is null;"
    "  if problem = '' then insert into replay.was select (l.capture).id, h.* from replay.live l, "
    "replay.held(l.capture) as h; end if;"
    "  return problem; end $$;"
    /* A table that was released, and captured again, has another number; what other rows meet its filter was not told.
     */
    "create function replay.renumber() returns void language plpgsql as $$ declare n record; begin"
    "  for n in select b.capture as old, c as new, b.key_columns <> c.key_columns as has_key, "
    "                  b.row_filter is distinct from c.row_filter or "
    "(select count(*) from replay.was w where w.capture = b.capture and w.is_kept) <> "
    "(select count(*) from replay.held(c) as h where h.is_kept) as has_filter "
    "             from replay.captured b join rowrelay.capture c on c.relation = b.relation and c.released_at is null "
    "            where (b.capture, b.key_columns, b.row_filter) is distinct from (c.id, c.key_columns, c.row_filter) "
    "loop"
    "    update replay.row set capture = (n.new).id where capture = n.old;"
    "    update replay.was set capture = (n.new).id where capture = n.old;"
    "    update replay.unmirrored set capture = (n.new).id where capture = n.old;"
    "    update replay.doubled set capture = (n.new).id where capture = n.old;"
    "    if n.has_key and exists (select from replay.doubled where capture = (n.new).id) then"
    "      delete from replay.doubled where capture = (n.new).id; n.has_filter := true;"
    "    end if;"
    "    if n.has_filter then"
    "      delete from replay.row where capture = (n.new).id; delete from replay.was where capture = (n.new).id;"
    "      insert into replay.row select (n.new).id, h.key, h.image from replay.held(n.new) as h where h.is_kept;"
    "      insert into replay.unmirrored values ((n.new).id);"
    "    end if;"
    "  end loop; end $$;"
    /* some stories make tens of thousands of rows */
    "create function replay.after_alteration() returns void language sql set enable_nestloop = off as $$"
    "  select replay.renumber();"
    "  with was as (select w.capture, w.place, w.image, row_number() over (partition by w.capture, w.image order by "
    "w.place) as n from replay.was w where w.is_kept),"
    "       logged as (select r.ctid as at, r.capture, r.image, row_number() over (partition by r.capture, r.image) "
    "as n from replay.row r),"
    "       is_now as (select (l.capture).id as capture, h.place, h.image from replay.live l, "
    "replay.held(l.capture) as h),"
    "       altered as (select logged.at, was.image as old, is_now.image as new from logged join was using (capture, "
    "image, n) join is_now using (capture, place) where is_now.image <> was.image)"
    "  update replay.row r set image = a.new, stale = r.stale || array(select n.key from "
    "jsonb_each_text(a.new::jsonb) as n where not (a.old::jsonb ? n.key) or a.old::jsonb ->> n.key is distinct from "
    "n.value) from altered a where a.at = r.ctid;"
    /* the table may have been given a key, and be captured by it now */
    "  update replay.row r set key = h.key from (select distinct (l.capture).id as capture, h.image, h.key from "
    "replay.live l, replay.held(l.capture) as h) as h where h.capture = r.capture and h.image = r.image and r.key is "
    "distinct from h.key;"
    "  insert into replay.unmirrored select c.id from rowrelay.capture c where c.key_columns = '{}' and exists "
    "(select from replay.row r where r.capture = c.id and r.stale <> '{}') $$;"
    "create function replay.rows(c rowrelay.capture, shown text, condition text) returns setof text language plpgsql "
    "as "
    "$$ begin"
    "  return query execute format('select x::text from (select %s from %s as new where %s) as x', shown, c.relation, "
    "condition); end $$;"
    /* the columns that a mirror must have right; it may lack them while it has no row */
    "create function replay.mirrored(c rowrelay.capture, out names text, out shown text) language sql as $$"
    "  select coalesce(string_agg(k.name, ', '), '1'), coalesce(string_agg(k.shown, ', '), '1')"
    "    from replay.columns(c) as k where exists (select from replay.row r where r.capture = c.id)"
    "     and not exists (select from replay.row r where r.capture = c.id and k.name = any (r.stale)) $$;"
    /* what undo can bring back: not a generated column, of which others may be left out */
    "create function replay.undoable(c rowrelay.capture) returns text language sql as $$"
    "  select coalesce(string_agg(k.shown, ', '), '1') from replay.columns(c) as k where not exists (select from "
    "pg_attribute a where a.attrelid = c.relation and quote_ident(a.attname) = k.name and a.attgenerated <> '') $$;"
    "create function replay.save() returns void language plpgsql as $$ begin"
    "  if (select max(x.id) from rowrelay.change x) <= (select max(s.last_id) from replay.saved s) then return; end if;"
    "  delete from replay.saved where generation = 1; update replay.saved set generation = 1;"
    "  insert into replay.saved select 2, null, null, coalesce(max(id), 0) from rowrelay.change;"
    "  insert into replay.saved select 2, (l.capture).id, r from replay.live l, "
    "replay.rows(l.capture, replay.undoable(l.capture), coalesce(rowrelay.filter_condition(l.capture), 'true')) as r; "
    "end $$;"
    /* what is not as it was before the last transaction, of what the log can know */
    "create function replay.differs() returns text language sql as $$"
    "  with was as (select s.capture, s.image from replay.saved s where s.generation = 1 and s.capture is not null),"
    "       is_now as (select (l.capture).id, r from replay.live l, "
    "replay.rows(l.capture, replay.undoable(l.capture), coalesce(rowrelay.filter_condition(l.capture), 'true')) as r)"
    "  select string_agg(what, ' ') from ("
    "    (select format('lost: table %s row %s', c.relation, x.image) as what from "
    "(select * from was except all select * from is_now) as x join rowrelay.capture c on c.id = x.capture) union all"
    "    (select format('new: table %s row %s', c.relation, x.r) from (select * from is_now except all select * from "
    "was) "
    "as x join rowrelay.capture c on c.id = x.id)) as u $$;"
    /* the transaction that made the changes since generation 1, if it is one */
    "create function replay.last_transaction() returns xid8 language sql as $$"
    "  select max(x.txid::text)::xid8 from rowrelay.change x where x.op <> 'b' and x.id > (select s.last_id from "
    "replay.saved s where s.generation = 1 and s.capture is null) having count(distinct x.txid) = 1 $$;";

void replay_begin(PGconn *source) {
  PGresult *result = PQexec(source, REPLAY);
  cr_assert_eq(PQresultStatus(result), PGRES_COMMAND_OK, "%s", PQerrorMessage(source));
  PQclear(result);
}

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

void retold_end(struct retold *retold) {
  PQfinish(retold->other);
  PQfinish(retold->watcher);
}

/* ---- the other session ------------------------------------------------------------------------------------------- */

static void say(const char *statement, const PGresult *result) {
  if (getenv("ROWRELAY_SHOW") != NULL)
    fprintf(stderr, "%s;\n%s", statement, PQresultErrorMessage(result));
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
  for (PGresult *result; (result = PQgetResult(other)) != NULL; PQclear(result))
    say("-- the other session", result);
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
      "truncate replay.row, replay.saved, replay.doubled, replay.was, replay.unmirrored, replay.captured;"
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

/* Says which documents are not what they are built from. */
static bool are_documents_right(struct retold *retold, char *problem) {
  static const char *const ROWS = "select string_agg(x::text, E'\n' order by x.id) from (select * from nasty.doc) as x";
  const struct fixture *f = retold->fixture;
  if (ask(f->at_source, "select name from rowrelay.target where name = 'nasty_doc' and dropped_at is null")[0] == '\0')
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

/* Delivers what is queued, and says what a mirror has not as it should. */
static bool is_mirrored(struct retold *retold, char *problem) {
  struct fixture *f = retold->fixture;
  const char *errors;
  double began = seconds_now();
  retold->delivered++;
  if (rowrelay(f, NULL, &errors, "run", "--until-empty", NULL) != 0) {
    snprintf(problem, PROBLEM, "%s", errors);
    return false;
  }
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
  return same && are_documents_right(retold, problem);
}

/*
 * Undoes the last transaction, looks, and takes that back. Triggers and rules of the story are to do nothing then:
 * what they did is in the log.
 */
static bool is_undone(struct retold *retold, char *problem) {
  PGconn *source = retold->fixture->at_source;
  const char *transaction = ask(source, "select replay.last_transaction()");
  const char *wrong = "";
  if (transaction[0] == '\0')
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

/* Executes what may fail; false if it does not end. */
static bool ends(PGconn *source, const char *statement, char *problem) {
  PGresult *result = PQexec(source, statement);
  const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  bool is_endless = state != NULL && strcmp(state, "57014") == 0; /* by statement_timeout */
  say(statement, result);
  if (is_endless)
    snprintf(problem, PROBLEM, "did not end: %s", statement);
  PQclear(result);
  return !is_endless;
}

/* What alters a table, or how it is captured, without any change of a row. */
static bool is_alteration(const char *statement) {
  static const char *const BEGINNINGS[] = {"alter table nasty.", "select rowrelay.capture_table(",
                                           "select rowrelay.release_table("};
  for (size_t i = 0; i < sizeof BEGINNINGS / sizeof *BEGINNINGS; i++)
    if (strncmp(statement, BEGINNINGS[i], strlen(BEGINNINGS[i])) == 0)
      return true;
  return false;
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
  const char *errors;
  if (is_locked(retold))
    return true;
  bool is_delivered = rowrelay(retold->fixture, NULL, &errors, "run", "--until-empty", NULL) == 0;
  if (!is_delivered)
    snprintf(problem, PROBLEM, "%s", errors);
  return is_delivered;
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
  bool is_all = is_idle(source) && is_alone(retold);
  if (strcmp(statement, NASTY_DELIVER) == 0)
    return is_all ? is_mirrored(retold, problem) : is_delivered(retold, problem);
  if (!is_all)
    return true;
  return strcmp(statement, NASTY_UNDO) == 0 ? is_undone(retold, problem) : is_logged(retold, problem);
}

/* Tells the story; false with what is wrong after the statement `*failed_at`. */
static bool ends_well(struct retold *retold, const struct story *story, char *problem, size_t *failed_at) {
  begin_again(retold, story);
  for (size_t i = 0; i < story->count; i++) {
    *failed_at = i;
    if (!story->left_out[i] && !goes_on_well(retold, story->statements[i], problem))
      return false;
  }
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
