#include "replay.h"

#include <criterion/criterion.h>

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
    "create table replay.doubled (capture int, key text); create table replay.shared (relation oid primary key);"
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
    /* what such a truncate took is listed, and what else the log says of that is of an older snapshot */
    "  if exists (select from rowrelay.change x where x.capture = c.id and x.id > (select f.id from replay.floor f) "
    "and "
    "x.caveat ->> 'problem' like 'rows of table % that others have written since%') then"
    "    insert into replay.applied select x.id from rowrelay.change x where x.capture = c.id and x.id > (select f.id "
    "from replay.floor f) on conflict do nothing;"
    "    perform replay.begin_again(c); return null;"
    "  end if;"
    "  for ch in with new as (insert into replay.applied select x.id from rowrelay.change x "
    "            where x.capture = c.id and x.id > (select f.id from replay.floor f) "
    "            and not exists (select from replay.applied a where a.id = x.id) returning id) "
    "            select x.* from rowrelay.change x where x.op not in ('r', 'b') "
    "            and x.id > (select f.id from replay.floor f) and x.id in (select n.id from new n) order by x.id loop"
    "    if ch.caveat ->> 'problem' like '%has the same key' then"
    "      insert into replay.doubled values (c.id, replay.key_of(c, ch.key));"
    "      insert into replay.shared values (c.relation) on conflict do nothing; continue; end if;"
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
    /* what a mirror has is not known any more: a person would copy the table */
    "create function replay.begin_again(c rowrelay.capture) returns void language sql as $$"
    "  delete from replay.row where capture = c.id;"
    "  insert into replay.row select c.id, h.key, h.image from replay.held(c) as h where h.is_kept;"
    "  insert into replay.unmirrored values (c.id) $$;"
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
    /*
     * What waits for a target of one key, or of one table without keys, waits in one lane, or has a barrier in between:
     * lanes are not ordered among each other. Says where that is not so. Without a key, lane columns may tell rows
     * apart that are equal in the log (also those that it had before it was captured with none), and so may they where
     * several rows have one key; a row with null in its key, which every target refuses, is one of many. A table that
     * is captured again may have another key, so that nothing tells which changes are of one row.
     */
    "create view replay.queued as select h.id, c.id as capture, c.relation, replay.key_of(c, h.key) as row, "
    "    h.key is null and (coalesce(c.lane_columns, '{}') <> '{}' or h.id < c.lanes_since) or c.relation in "
    "(select relation from replay.shared) or coalesce(h.caveat ->> 'problem', '') = 'its key is null' as is_free, "
    "rowrelay.lane_position(q.lane) as lane, "
    "    count(*) filter (where rowrelay.lane_position(q.lane) = -1) over (order by h.id) as barriers"
    "  from rowrelay.queue q join rowrelay.target t on t.name = 'w' and t.dropped_at is null and "
    "q.lane between rowrelay.lane_number(t.id, -1) and rowrelay.lane_number(t.id, 1023) "
    "  join rowrelay.change h on h.id = q.change_id and h.day = q.day join rowrelay.capture c on c.id = h.capture;"
    "create function replay.disorder() returns text language sql as $$"
    "  with pair as (select lag(q) over (partition by q.relation, q.row order by q.id) as before, q as after, "
    "true as is_row from replay.queued q union all "
    "select lag(q) over (partition by q.relation order by q.id), q, false from replay.queued q)"
    "  select format('changes %s and %s of %s %s wait in lanes %s and %s, without a barrier', (before).id, (after).id, "
    "(after).relation::regclass, (after).row, (before).lane, (after).lane) from pair"
    "   where (before).lane <> (after).lane and case when is_row then not (after).is_free else "
    "(before).capture <> (after).capture end "
    "     and (after).barriers = (before).barriers - ((before).lane = -1)::int order by (after).id limit 1 $$;"
    /*
     * What was written to a child while it had no triggers, because somebody else had locked its table, is in no log,
     * nor is it known which keys its rows share. It is listed, and a person would repair it: nothing more is judged of
     * that table. Other gaps are listed though nothing was written meanwhile (triggers disabled and enabled in one
     * statement, columns added): the table is judged, and so is all that comes later.
     */
    "create table replay.unknown (relation oid primary key);"
    "create function replay.may_lack_rows(c rowrelay.capture) returns boolean language plpgsql as $$ begin"
    "  if rowrelay.unseen_parts(rowrelay.new_parts(c)) is not null then"
    "    delete from rowrelay.job; perform rowrelay.maintain();"
    "  end if;"
    "  delete from rowrelay.gap g where g.capture = c.id;"
    "  return (found or rowrelay.unseen_parts(rowrelay.new_parts(c)) is not null) "
    "and cardinality(rowrelay.captured_tables(c)) > 1; end $$;"
    "create function replay.give_up(c rowrelay.capture) returns void language sql as $$"
    "  insert into replay.unknown values (c.relation);"
    "  insert into replay.unmirrored values (c.id);"
    "  insert into replay.shared values (c.relation) on conflict do nothing;"
    "  delete from replay.doubled where capture = c.id;"
    "  delete from replay.row where capture = c.id $$;"
    "create function replay.check() returns text language plpgsql as $$"
    "declare c rowrelay.capture; problem text; may_lack boolean; begin"
    "  for c in select x.* from rowrelay.capture x where x.released_at is null and x.relation not in "
    "(select u.relation from replay.unknown u) order by x.id loop"
    "    may_lack := replay.may_lack_rows(c);"
    "    problem := replay.apply(c);"
    "    perform replay.settle(c) where exists (select from replay.doubled d where d.capture = c.id);"
    "    problem := coalesce(problem, replay.compare(c));"
    "    if may_lack and problem is not null then"
    "      perform replay.give_up(c);"
    "    elsif problem is not null then"
    "      return format('table %s: %s', c.relation, problem);"
    "    end if;"
    "  end loop; return coalesce(replay.disorder(), ''); end $$;"
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
    /* a document captured it first, and nothing was sent to its mirror */
    "    insert into replay.unmirrored select (n.new).id where not exists (select from rowrelay.route r join "
    "rowrelay.target t on t.id = r.target where r.capture = n.old and t.name = 'w');"
    "    if n.has_key and exists (select from replay.doubled where capture = (n.new).id) then"
    "      delete from replay.doubled where capture = (n.new).id; n.has_filter := true;"
    "    end if;"
    "    if n.has_filter then"
    "      delete from replay.was where capture = (n.new).id;"
    "      perform replay.begin_again(n.new);"
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
