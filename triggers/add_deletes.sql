-- Purpose:    captures all rows of a table as deleted, in one statement, because there may be many
-- Parameters: capture; the table or partition with the rows
create or replace function rowrelay.add_deletes(capture rowrelay.capture, relation regclass) returns void
language plpgsql as $$
declare
  key_columns  smallint[] := rowrelay.live_key(capture);
  lane_columns smallint[] := coalesce(capture.lane_columns, key_columns);
  images       record;
  shown        text; -- without an inheritance child's own columns
  old_row      text;
  caveat       text := 'null::json';
  former       bigint := rowrelay.former_lastval();
begin
  -- The statement would name columns that have changed since, whose types may have casts that run a user's code.
  if not rowrelay.names_are_current(capture.relation) then
    raise exception 'its columns were altered by a transaction that this one cannot see yet';
  end if;
  if rowrelay.keeps_before(capture) then
    select * into images from rowrelay.image_expression(capture);
    select string_agg(format('old.%I', a.attname), ', ' order by a.attnum) into shown
      from pg_attribute a where a.attrelid = capture.relation and a.attnum > 0 and not a.attisdropped;
    old_row := format('(select %s from (select %s) as new)', images.image, shown);
    if images.text_columns is not null then
      caveat := format('(select case when n.names <> ''{}'' then json_build_object(''text_columns'', n.names) end '
                       'from (select %s from (select %s) as new) as n(names))', images.text_columns, shown);
    end if;
  else
    old_row := rowrelay.key_row(capture);
  end if;
  if cardinality(key_columns) > 0 then -- as rowrelay.record_row() tells of such a row
    caveat := format('case when %s then %s else json_build_object(''problem'', ''its key is null'') end',
                     rowrelay.has_key(capture.relation, key_columns, 'old'), caveat);
  end if;
  execute format(
    'with gone as materialized (select rowrelay.next_change_id() as id, %s as key, %s as hash, %s as old_row, %s '
    'as caveat from only %s as old%s), '
    'logged as (insert into rowrelay.change (id, txid, captured_at, day, capture, op, key, actor, db_user, '
    'application_name, client_addr, old_row, caveat) '
    '           select id, pg_current_xact_id(), clock_timestamp(), rowrelay.partition_day(), $1, ''d'', key, $2, '
    '         rowrelay.db_user(), current_setting(''application_name''), rowrelay.client_addr(), old_row, '
    '         rowrelay.traced(caveat) from gone) '
    'insert into rowrelay.queue (change_id, lane, day, bytes) '
    'select g.id, rowrelay.lane_number(t.target, coalesce(mod(g.hash & 2147483647, t.lanes), -1)) + t.room, '
    'rowrelay.partition_day(), pg_column_size(g.old_row) '
    '  from gone g, (select r.target, r.lanes, rowrelay.waiting_room($1, r.target) as room '
    '                  from rowrelay.present_routes($1) as r) as t '
    'union all '
    'select g.id, d.lane, rowrelay.partition_day(), pg_column_size(g.old_row) '
    '  from gone g, rowrelay.document_lanes($1, ''d'', g.hash, g.old_row, null) as d(lane)',
    rowrelay.key_expression(capture.relation, key_columns, 'old'),
    case when rowrelay.can_change_lane(capture) then 'null::integer'
         else rowrelay.hash_expression(capture.id, capture.relation, lane_columns, 'old') end,
    old_row, caveat, relation,
    -- rows that do not meet the filter were never captured
    ' where (select ' || rowrelay.filter_condition(capture) || ' from (select old.*) as new)')
    using capture.id, rowrelay.actor();
  former := rowrelay.keep_lastval(former);
  if pg_sequence_last_value('rowrelay.doorbell'::regclass) > 0 then
    perform rowrelay.ring_doorbell();
  end if;
end
$$;
