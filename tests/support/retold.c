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
    "create table replay.seen (capture int primary key, id bigint);"
    /* what cannot be told apart is in the list of errors, which is all that can be done */
    "create table replay.listed (capture int);"
    /* the rows of the tables: of generation 1 before the last transaction, of generation 2 after it */
    "create table replay.saved (generation int, capture int, image text, last_id bigint);"
    /* equal keys have one text here */
    "create function replay.key_of(c rowrelay.capture, key text) returns text language sql as $$"
    "  select case when c.key_is_exact then key "
    "              else lower(regexp_replace(regexp_replace(key, '(\\.[0-9]*?)0+(?![0-9])', '\\1', 'g'), "
    "'\\.(?![0-9])|-(?=0(?![.0-9]))', '', 'g')) end $$;"
    "create table replay.row (capture int, key text, image text);"
    "create function replay.apply(c rowrelay.capture) returns text language plpgsql as $$"
    "declare ch rowrelay.change; begin"
    "  insert into replay.seen values (c.id, 0) on conflict do nothing;"
    "  for ch in select x.* from rowrelay.change x join replay.seen s on s.capture = c.id "
    "            where x.capture = c.id and x.id > s.id and x.op not in ('r', 'b') order by x.id loop"
    "    if ch.caveat ->> 'problem' like '%has a row with its key' then"
    "      insert into replay.listed values (c.id); return null; end if;"
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
    "    if ch.op <> 'd' then insert into replay.row values (c.id, replay.key_of(c, ch.key), ch.new_row::jsonb::text); "
    "end if;"
    "  end loop;"
    "  update replay.seen s set id = coalesce((select max(x.id) from rowrelay.change x), 0) where s.capture = c.id;"
    "  return null; end $$;"
    "create function replay.compare(c rowrelay.capture) returns text language plpgsql as $$"
    "declare shown text; found text; begin"
    "  select string_agg(format(case when a.attnum = any (c.exclude_columns) then '' else 't.%1$I' end, a.attname), ', "
    "' order by attnum) "
    "         filter (where a.attnum <> all (c.exclude_columns))"
    "    into shown from pg_attribute a where a.attrelid = c.relation and a.attnum > 0 and not a.attisdropped;"
    "  execute format('with held as (select to_jsonb(x)::text as image from (select %s from %s t where %s) as x), "
    "logged as (select r.image from replay.row r where r.capture = $1) "
    "select string_agg(what, E''\\\\n'') from ("
    "(select ''only in the table: '' || image as what from (select * from held except all select * from logged) as a) "
    "union all "
    "(select ''only in the log: '' || image from (select * from logged except all select * from held) as b)) as u', "
    "shown, c.relation,"
    "    coalesce(c.row_filter, 'true')) into found using c.id;"
    "  return found; end $$;"
    "create function replay.check() returns text language plpgsql as $$"
    "declare c rowrelay.capture; problem text; begin"
    "  for c in select x.* from rowrelay.capture x where x.released_at is null "
    "           and x.id not in (select capture from replay.listed) order by x.id loop"
    "    problem := replay.apply(c);"
    "    if exists (select from replay.listed l where l.capture = c.id) then continue; end if;"
    "    problem := coalesce(problem, replay.compare(c));"
    "    if problem is not null then return format('table %s: %s', c.relation, problem); end if;"
    "  end loop; return ''; end $$;"
    /* of what is captured of a row, as text */
    "create function replay.columns(c rowrelay.capture) returns text language sql as $$"
    "  select string_agg(quote_ident(a.attname), ', ' order by a.attname) from pg_attribute a"
    "   where a.attrelid = c.relation and a.attnum > 0 and not a.attisdropped and a.attnum <> all (c.exclude_columns) "
    "$$;"
    "create function replay.rows(c rowrelay.capture, condition text) returns setof text language plpgsql as $$ begin"
    "  return query execute format('select x::text from (select %s from %s where %s) as x', replay.columns(c),"
    "                              c.relation, coalesce(condition, 'true')); end $$;"
    "create view replay.live as select c as capture from rowrelay.capture c"
    "  where c.released_at is null and rowrelay.full_name(c.relation) is not null;"
    "create function replay.save() returns void language plpgsql as $$ begin"
    "  if (select max(x.id) from rowrelay.change x) <= (select max(s.last_id) from replay.saved s) then return; end if;"
    "  delete from replay.saved where generation = 1; update replay.saved set generation = 1;"
    "  insert into replay.saved select 2, null, null, coalesce(max(id), 0) from rowrelay.change;"
    "  insert into replay.saved select 2, (l.capture).id, r from replay.live l, "
    "replay.rows(l.capture, (l.capture).row_filter) as r; end $$;"
    /* what is not as it was before the last transaction, of what the log can know */
    "create function replay.differs() returns text language sql as $$"
    "  with was as (select s.capture, s.image from replay.saved s where s.generation = 1 and s.capture is not null),"
    "       is_now as (select (l.capture).id, r from replay.live l, replay.rows(l.capture, (l.capture).row_filter) as "
    "r)"
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

void retold_begin(struct retold *retold, struct fixture *fixture) {
  *retold = (struct retold){.fixture = fixture};
  replay_begin(fixture->at_source);
  for (int i = 0; i < 2; i++)
    sql(i == 0 ? fixture->at_source : fixture->at_target, "create extension citext");
  rowrelay_ok(fixture, "target", "add", "w", fixture->target_url, NULL);
}

static void begin_again(const struct retold *retold, const struct story *story) {
  PGconn *source = retold->fixture->at_source;
  sql(source, "rollback; set client_min_messages to error;"
              "do $$ begin perform rowrelay.release_table(c.relation) from rowrelay.capture c "
              "where c.released_at is null and rowrelay.full_name(c.relation) is not null; end $$;"
              "drop schema if exists nasty cascade; create schema nasty;"
              "update rowrelay.capture set released_at = now() where released_at is null;"
              "delete from rowrelay.queue; delete from rowrelay.refusal;"
              "truncate replay.seen, replay.row, replay.saved, replay.listed");
  sql(source, "update rowrelay.target set options = jsonb_build_object('batch_rows', %d)",
      story->count % 2 == 0 ? 1 : 1000);
  sql(retold->fixture->at_target, "set client_min_messages to error; drop schema if exists nasty cascade; "
                                  "create schema nasty; create collation nasty.folded "
                                  "(provider = icu, locale = 'und-u-ks-level2', deterministic = false)");
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
  const char *refused =
      ask(f->at_source, "select format('%%s %%s of %%s: %%s %%s', op, key, relation, message, detail) "
                        "from rowrelay.errors where message not like '%%has a row with its key' and "
                        "detail not like '%%has a row with its key' limit 1");
  if (refused[0] != '\0') {
    snprintf(problem, PROBLEM, "refused: %s", refused);
    return false;
  }
  PGresult *tables =
      PQexec(f->at_source, "select rowrelay.full_name((l.capture).relation), replay.columns(l.capture), (select "
                           "string_agg(r, E'\\n' order by r collate \"C\") from replay.rows(l.capture, "
                           "(l.capture).row_filter) as r) from replay.live l where (l.capture).id not in (select "
                           "capture from replay.listed) order by (l.capture).id");
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
      "begin; select set_config('session_replication_role', 'replica', true) where exists (select from pg_trigger t "
      "join pg_proc p on p.oid = t.tgfoid where p.pronamespace = 'nasty'::regnamespace) "
      "or exists (select from pg_rules r where r.schemaname = 'nasty')");
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

static bool goes_on_well(struct retold *retold, const char *statement, char *problem) {
  PGconn *source = retold->fixture->at_source;
  PQclear(PQexec(source, "set nasty.left = '8'"));
  PGresult *result = PQexec(source, statement); /* it may fail */
  if (getenv("ROWRELAY_SHOW") != NULL)
    fprintf(stderr, "%s;\n%s", statement, PQresultErrorMessage(result));
  PQclear(result);
  if (PQtransactionStatus(source) == PQTRANS_INERROR)
    PQclear(PQexec(source, "rollback"));
  if (PQtransactionStatus(source) != PQTRANS_IDLE)
    return true;
  if (strcmp(statement, NASTY_DELIVER) == 0)
    return is_mirrored(retold, problem);
  if (strcmp(statement, NASTY_UNDO) == 0)
    return is_undone(retold, problem);
  const char *wrong = ask(source, "select replay.check()");
  snprintf(problem, PROBLEM, "%s", wrong);
  if (wrong[0] == '\0')
    sql(source, "select replay.save()");
  return wrong[0] == '\0';
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

/* Leaves out what can be left out of a story that ends badly. */
static void shrink(struct retold *retold, struct story *story, char *problem) {
  size_t last = 0;
  bool shorter = true;
  if (ends_well(retold, story, problem, &last))
    return;
  story->count = last + 1;
  while (shorter) {
    shorter = false;
    for (size_t i = story->count; i-- > 0;) {
      if (story->left_out[i])
        continue;
      char wrong[PROBLEM];
      story->left_out[i] = true;
      if (ends_well(retold, story, wrong, &last)) {
        story->left_out[i] = false;
      } else {
        snprintf(problem, PROBLEM, "%s", wrong);
        shorter = true;
      }
    }
  }
}

void retold_tell(struct retold *retold, unsigned int seed) {
  static struct story story;
  char problem[PROBLEM];
  size_t last;
  nasty_write(&story, seed, PQserverVersion(retold->fixture->at_source));
  if (ends_well(retold, &story, problem, &last))
    return;
  shrink(retold, &story, problem);
  fprintf(stderr, "-- ROWRELAY_SEED=%u\ncreate schema nasty;\n", seed);
  for (size_t i = 0; i < story.count; i++)
    if (!story.left_out[i])
      fprintf(stderr, "%s;\n", story.statements[i]);
  if (getenv("ROWRELAY_KEEP_ON") != NULL) {
    fprintf(stderr, "---- seed %u: %s\n", seed, problem);
    return;
  }
  cr_assert_fail("seed %u: %s", seed, problem);
}
