-- Purpose:    makes a capture's trigger function as the table, the capture's options and its routes are now. Writers
--             are not held up: no lock on the table is taken, and running transactions go on with what they have.
--             Unless rows change lanes by it (another key, another type of it): then what was queued under the old
--             lanes must be delivered before anything under the new ones, so a barrier is put between them, in a moment
--             when nobody writes.
-- Parameters: capture id; how long to try for the lock that this takes
-- Errors:     as rowrelay.lock_tables()
create or replace function rowrelay.make_trigger_function(capture_id integer, lock_wait interval default '10 s') returns void
-- callers have several paths, and with each other one all that is called from here would be planned anew
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  capture   rowrelay.capture;
  statement text;
  owner     name := (select r.rolname from pg_namespace n join pg_roles r on r.oid = n.nspowner where n.nspname = 'rowrelay');
begin
  select c.* into strict capture from rowrelay.capture c where c.id = capture_id for update;
  if rowrelay.full_name(capture.relation) is null then
    return; -- the table is gone, and its triggers with it
  end if;
  if capture.lane_state <> rowrelay.lane_state(capture) then
    perform rowrelay.lock_tables(rowrelay.captured_tables(capture), 'share row exclusive', lock_wait);
    perform rowrelay.add_change(capture_id, 'b', null, null, null, null);
  end if;
  -- another type may have another idea of equality
  update rowrelay.capture c set key_is_exact = rowrelay.key_is_exact(capture.relation, capture.key_columns)
   where c.id = capture_id and rowrelay.live_key(c) = c.key_columns;
  select c.* into strict capture from rowrelay.capture c where c.id = capture_id;
  execute rowrelay.trigger_function(capture);
  -- It runs with its owner's rights, and only the schema's owner is sure to have them.
  if owner <> current_user then
    execute format('alter function rowrelay.%I() owner to %I', 'capture_' || capture_id, owner);
  end if;
  for statement in select g.statement from rowrelay.trigger_grants(capture) as g(statement) loop
    execute statement;
  end loop;
  update rowrelay.capture c
     set column_state = rowrelay.column_state(capture), lane_state = rowrelay.lane_state(capture),
         relation_name = rowrelay.full_name(capture.relation),
         key_names = rowrelay.attribute_names(capture.relation, capture.key_columns)
   where c.id = capture_id;
  -- of a capture that is new rowrelay.capture_table() notes the first
  if exists (select from rowrelay.shape s where s.capture = capture_id) then
    perform rowrelay.note_shape(capture);
  end if;
  update rowrelay.document_source s
     set key_name = (rowrelay.attribute_names(capture.relation, array[s.key_column]))[1]
   where s.capture = capture_id and s.key_column is not null
     and (rowrelay.attribute_names(capture.relation, array[s.key_column]))[1] is not null;
  -- Processes know the table by what it was.
  update rowrelay.target t set version = t.version + 1
   where t.id in (select r.target from rowrelay.route r where r.capture = capture_id and r.until_id is null);
end
$$;
