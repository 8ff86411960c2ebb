-- Purpose:    creates or replaces a capture's trigger function for the present table, options and routes. It does not
--             block writers: it takes no lock on the table, and running transactions go on with the old function. But
--             if rows change lanes (another key, or another type of it), changes in the old lanes must be delivered
--             before those in the new ones: then it locks the table against writers and queues a barrier between them.
-- Parameters: capture id; how long to try for that lock
-- Errors:     as for rowrelay.lock_tables()
create or replace function rowrelay.make_trigger_function(capture_id integer, lock_wait interval default '10 s')
  returns void
-- fixed, because all functions called from here would be planned again for each caller's search_path, and five times
-- before a plan is kept
language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
  capture   rowrelay.capture;
  barrier   bigint;
  statement text;
  owner     name := (select r.rolname from pg_namespace n join pg_roles r on r.oid = n.nspowner
                     where n.nspname = 'rowrelay');
begin
  -- before the capture, and one after the other, so that two who lock several of them do not wait for each other
  perform from rowrelay.target t
    where t.id in (select r.target from rowrelay.route r where r.capture = capture_id and r.until_id is null)
    order by t.id for no key update;
  select c.* into strict capture from rowrelay.capture c where c.id = capture_id for update;
  if rowrelay.full_name(capture.relation) is null then
    return; -- the table was dropped with its triggers
  end if;
  if capture.lane_state <> rowrelay.lane_state(capture) then
    perform rowrelay.lock_tables(rowrelay.captured_tables(capture), 'share row exclusive', lock_wait);
    barrier := rowrelay.add_change(capture_id, 'b', null, null, null, null);
  end if;
  -- another type may define equality differently
  update rowrelay.capture c set key_is_exact = rowrelay.key_is_exact(capture.relation, capture.key_columns)
   where c.id = capture_id and rowrelay.live_key(c) = c.key_columns;
  select c.* into strict capture from rowrelay.capture c where c.id = capture_id;
  execute rowrelay.trigger_function(capture);
  -- It runs with its owner's rights, and only the schema's owner is sure to have enough.
  if owner <> current_user then
    execute (select string_agg(format('alter function %s owner to %I', m.made, owner), '; ')
               from rowrelay.made_functions(capture_id) as m);
  end if;
  for statement in select g.statement from rowrelay.trigger_grants(capture) as g(statement) loop
    execute statement;
  end loop;
  update rowrelay.capture c
     set column_state = rowrelay.column_state(capture), lane_state = rowrelay.lane_state(capture),
         relation_name = rowrelay.full_name(capture.relation),
         numbered_at = rowrelay.numbered_here(capture.relation),
         column_names = rowrelay.column_names(capture.relation),
         key_names = rowrelay.attribute_names(capture.relation, capture.key_columns),
         lanes_since = coalesce(barrier, c.lanes_since)
   where c.id = capture_id;
  -- rowrelay.capture_table() records the first shape of a new capture
  if exists (select from rowrelay.shape s where s.capture = capture_id) then
    perform rowrelay.note_shape(capture);
  end if;
  update rowrelay.document_source s
     set key_name = (rowrelay.attribute_names(capture.relation, array[s.key_column]))[1]
   where s.capture = capture_id and s.key_column is not null
     and (rowrelay.attribute_names(capture.relation, array[s.key_column]))[1] is not null;
  -- A new version makes processes read the table's settings again.
  update rowrelay.target t set version = t.version + 1
   where t.id in (select r.target from rowrelay.route r where r.capture = capture_id and r.until_id is null);
end
$$;
