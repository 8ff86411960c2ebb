-- Purpose:    remembers that the log holds every change of a table from now on. The caller has put on the triggers and
--             holds the lock that this takes, so whoever wrote before has ended, and whoever writes later is captured.
-- Parameters: capture
create or replace function rowrelay.begin_log(capture rowrelay.capture) returns void
language plpgsql as $$
declare
  shape rowrelay.shape := rowrelay.current_shape(capture);
begin
  update rowrelay.capture c set log_since = clock_timestamp()
   where c.id = begin_log.capture.id
  returning c.log_since into shape.noticed_at;
  insert into rowrelay.shape (capture, from_id, noticed_at, begins, was_empty, numbers, names, masks, hidden, key_types, altered_by)
  values (shape.capture, rowrelay.last_change_id(), shape.noticed_at, true,
          -- A file without a page has no row. To look for one among the dead could take long, and writers wait.
          not exists (select from unnest(rowrelay.captured_tables(capture)) as t(relation) where pg_relation_size(t.relation) > 0),
          shape.numbers, shape.names, shape.masks, shape.hidden, shape.key_types, shape.altered_by);
end
$$;
