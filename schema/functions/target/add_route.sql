-- Purpose:    sends the changes of a captured table to a target, as soon as the trigger function is made again
-- Parameters: capture of an existing table; the others as for rowrelay.route()
-- Errors:     as rowrelay.route()
create or replace function rowrelay.add_route(capture rowrelay.capture, target text, into_table text,
                                              create_table boolean,
                                              shared boolean) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  relation  constant regclass := capture.relation;
  target_id constant integer := rowrelay.target_id(target);
  -- read now, before another session renames the table
  default_table text := rowrelay.full_name(capture.relation);
  is_again      boolean;
  known_table   text;
begin
  if exists (select from rowrelay.document d where d.target = target_id) then
    raise exception '"%" is a document, not a target', target using errcode = 'invalid_parameter_value',
      hint = 'The tables that a document is built from are named when it is added.';
  end if;
  if into_table = '' then
    raise exception 'into_table is empty' using errcode = 'invalid_parameter_value',
      hint = 'Omit it to use the name that the table has here.';
  end if;
  if (select t.options ->> 'mode' = 'append' from rowrelay.target t where t.id = target_id) then
    default_table := rowrelay.changes_name(relation);
  end if;
  if rowrelay.waiting_room(capture.id, target_id) <> 0
     and exists (select from rowrelay.route r
                  where r.capture = capture.id and r.target = target_id and r.into_table <> add_route.into_table) then
    raise exception 'table % is being copied to target "%"', relation, target
      using errcode = 'object_not_in_prerequisite_state',
            hint = 'Wait until it is copied, or cancel that: '
                     || rowrelay.command('rowrelay backfill %s --to %s --cancel',
                                         'select rowrelay.cancel_backfill(%L, %L);', relation::text, target);
  end if;
  -- What is still queued may be in other lanes than new changes.
  is_again := exists (select from rowrelay.route r join rowrelay.capture c on c.id = r.capture
                       where r.target = target_id and c.relation = add_route.capture.relation
                         and (c.id <> capture.id or r.until_id is not null));
  select r.into_table into known_table from rowrelay.route r where r.capture = capture.id and r.target = target_id;
  -- an existing route was checked when it was added
  if not exists (select from rowrelay.route r
                  where r.capture = capture.id and r.target = target_id and r.until_id is null
                    and r.into_table = coalesce(add_route.into_table, r.into_table))
     or (select t.url ~ '^postgres(ql)?:$' from rowrelay.target t where t.id = target_id) then
    perform rowrelay.check_into(capture, t, coalesce(add_route.into_table, known_table, default_table),
                                add_route.shared)
       from rowrelay.target t where t.id = target_id;
  end if;
  insert into rowrelay.route as r (capture, target, into_table, create_table, from_id)
  values (capture.id, target_id, coalesce(add_route.into_table, default_table),
          coalesce(add_route.create_table, false), rowrelay.last_change_id())
  on conflict on constraint route_pkey do update
    set into_table = coalesce(add_route.into_table, r.into_table), until_id = null,
        create_table = coalesce(add_route.create_table, r.until_id is null and r.create_table),
        from_id = case when r.until_id is null then r.from_id else excluded.from_id end;
  perform rowrelay.check_indexes(target_id);
  if is_again then
    perform rowrelay.add_change(capture.id, 'b', null, null, null, null);
    -- Changes that wait because the target cannot take the table go before new ones.
    insert into rowrelay.hold (target, capture, attempts, retry_at, released_to, message, hint)
    select distinct on (h.target) h.target, capture.id, 0, clock_timestamp(), rowrelay.last_change_id(),
      h.message, h.hint
      from rowrelay.hold h join rowrelay.capture c on c.id = h.capture
     where h.target = target_id and c.relation = add_route.capture.relation and c.id <> capture.id
     order by h.target, h.capture desc
    on conflict on constraint hold_pkey do nothing;
  end if;
end
$$;
