-- Purpose:    returns the statement that logs rows of a table as they are and queues them for one target. It locks each
--             row FOR SHARE before its change gets an id, so that later writes have larger ids; it waits for a row that
--             another session is writing, or fails. The image is the same as the trigger's.
-- Parameters: capture; target; a table with rows of its own: the captured one, a partition or an inheritance child;
--             condition on a row called new, in addition to the capture's row filter; waits: whether to wait for rows
--             that others have locked; problem: why there can be no image, recorded in the change instead
-- Result:     a statement that returns one row: the number of queued rows and the largest id (null: none)
create or replace function rowrelay.snapshot_statement(capture rowrelay.capture, target rowrelay.target,
                                                       relation regclass,
                                                       condition text, waits boolean,
                                                       problem text default null) returns text
language plpgsql stable as $$
declare
  images  record;
  caveat  text := format('%L::json', json_build_object('target', target.id));
  key     smallint[] := rowrelay.live_key(capture);
  shown   text := 'new.*';
begin
  if not rowrelay.names_are_current(capture.relation) then
    raise exception 'table % was altered by a transaction that this one cannot see yet', capture.relation
      using errcode = 'object_not_in_prerequisite_state', hint = 'Try again in a new transaction.';
  end if;
  select * into strict images from rowrelay.image_expression(capture);
  if exists (select from pg_inherits i join pg_class p on p.oid = i.inhparent
              where i.inhrelid = relation and p.relkind = 'r') then
    -- an inheritance child's own columns are not captured
    select string_agg(format('new.%I', a.attname), ', ' order by a.attnum) into shown
      from pg_attribute a where a.attrelid = capture.relation and a.attnum > 0 and not a.attisdropped;
  end if;
  if problem is not null then
    images.image := 'null::json';
    caveat := format('%L::json', json_build_object('target', target.id, 'problem', problem));
  elsif images.text_columns is not null then
    caveat := format(
        '(select case when n.names = ''{}'' then %s else json_build_object(''target'', %s, ''text_columns'', '
        'n.names) end '
                     'from (select %s) as n(names))', caveat, target.id, images.text_columns);
  end if;
  return format($statement$
    with taken as materialized (
      select rowrelay.next_change_id() as id, %s as key, %s as hash, %s as image, %s as caveat
        -- read and locked in there; what stands above is made of the row that was locked
        from (select %s from only %s as new where %s for share of new%s) as new
    ), logged as (
      insert into rowrelay.change (id, txid, captured_at, day, capture, op, key, actor,
                                   db_user, application_name, client_addr, new_row, caveat)
      select t.id, pg_current_xact_id(), clock_timestamp(), rowrelay.partition_day(), %s, 's', t.key,
             rowrelay.actor(), rowrelay.db_user(), current_setting('application_name'), rowrelay.client_addr(),
               t.image, t.caveat
        from taken t
    ), queued as (
      insert into rowrelay.queue (change_id, lane, day, bytes)
      select t.id, %s + mod(t.hash & 2147483647, %s), rowrelay.partition_day(), coalesce(pg_column_size(t.image), 0)
        from taken t
    )
    select count(*), max(t.id) from taken t$statement$,
    rowrelay.key_expression(capture.relation, key, 'new'),
    rowrelay.hash_expression(capture.id, capture.relation, coalesce(capture.lane_columns, key), 'new'),
    images.image, caveat,
    shown, relation, concat_ws(' and ', '(' || condition || ')', rowrelay.filter_condition(capture)),
      case when not waits then ' nowait' end,
    capture.id, rowrelay.lane_number(target.id, 0), target.lanes);
end
$$;
