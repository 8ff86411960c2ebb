-- Purpose:    sends the changes of a captured table to a target, from now on. Takes no lock on the table.
-- Parameters: relation; target; into_table: name of the table there (null: as here); create_table: make that table when
--             it is missing, and add columns that it lacks later (null: as it was said before, else not)
--             shared: whether another table's changes may go into the same table there
-- Errors:     table not captured; no such target; it would go into itself, or into another one's table
create or replace function rowrelay.route(relation regclass, target text, into_table text default null,
                                          create_table boolean default null,
                                          shared boolean default false) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  capture   rowrelay.capture := rowrelay.captured(relation);
  target_id integer := rowrelay.target_id(target);
  -- as the table is called now, and not after somebody has renamed it
  default_table text := rowrelay.full_name(relation);
  is_again      boolean;
  known_table   text;
begin
  if rowrelay.full_name(relation) is null then
    raise exception 'table % is gone', capture.relation_name using errcode = 'undefined_table';
  end if;
  if exists (select from rowrelay.document d where d.target = target_id) then
    raise exception '"%" is a document, not a target', target using errcode = 'invalid_parameter_value',
      hint = 'What a document is built from is told when it is added.';
  end if;
  if into_table = '' then
    raise exception 'into_table is empty' using errcode = 'invalid_parameter_value',
      hint = 'Leave it out to use the name that the table has here.';
  end if;
  if (select t.options ->> 'mode' = 'append' from rowrelay.target t where t.id = target_id) then
    default_table := rowrelay.changes_name(relation);
  end if;
  if rowrelay.waiting_room(capture.id, target_id) <> 0
     and exists (select from rowrelay.route r
                  where r.capture = capture.id and r.target = target_id and r.into_table <> route.into_table) then
    raise exception 'table % is just being copied to target "%"', relation, target
      using errcode = 'object_not_in_prerequisite_state', hint = 'View rowrelay.backfills shows how far it is.';
  end if;
  -- What is queued of it still may be in other lanes than what comes now.
  is_again := exists (select from rowrelay.route r join rowrelay.capture c on c.id = r.capture
                       where r.target = target_id and c.relation = route.relation
                         and (c.id <> capture.id or r.until_id is not null));
  select r.into_table into known_table from rowrelay.route r where r.capture = capture.id and r.target = target_id;
  -- what goes there already was decided once
  if not exists (select from rowrelay.route r
                  where r.capture = capture.id and r.target = target_id and r.until_id is null
                    and r.into_table = coalesce(route.into_table, r.into_table))
     or (select t.url ~ '^postgres(ql)?:$' from rowrelay.target t where t.id = target_id) then
    perform rowrelay.check_into(capture, t, coalesce(route.into_table, known_table, default_table), route.shared)
       from rowrelay.target t where t.id = target_id;
  end if;
  insert into rowrelay.route as r (capture, target, into_table, create_table, from_id)
  values (capture.id, target_id, coalesce(route.into_table, default_table), coalesce(route.create_table, false), rowrelay.last_change_id())
  on conflict on constraint route_pkey do update
    set into_table = coalesce(route.into_table, r.into_table), until_id = null,
        create_table = coalesce(route.create_table, r.until_id is null and r.create_table),
        from_id = case when r.until_id is null then r.from_id else excluded.from_id end;
  perform rowrelay.check_indexes(target_id);
  if is_again then
    perform rowrelay.add_change(capture.id, 'b', null, null, null, null);
    -- And what waits of it, because the target cannot take the table, waits before what comes now.
    insert into rowrelay.hold (target, capture, attempts, retry_at, released_to, message, hint)
    select distinct on (h.target) h.target, capture.id, 0, clock_timestamp(), rowrelay.last_change_id(), h.message, h.hint
      from rowrelay.hold h join rowrelay.capture c on c.id = h.capture
     where h.target = target_id and c.relation = route.relation and c.id <> capture.id
     order by h.target, h.capture desc
    on conflict on constraint hold_pkey do nothing;
  end if;
  perform rowrelay.make_trigger_function(capture.id);
end
$$;
