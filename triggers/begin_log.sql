-- Purpose:    records that the log has every change of a table from now on. The caller has created the triggers and
--             still holds the lock for that, so earlier writers have ended and later ones are captured.
-- Parameters: capture
create or replace function rowrelay.begin_log(capture rowrelay.capture) returns void
language plpgsql as $$
declare
  shape rowrelay.shape := rowrelay.current_shape(capture);
begin
  perform rowrelay.note_files(capture);
  perform rowrelay.note_part_links(capture);
  update rowrelay.capture c set log_since = clock_timestamp()
   where c.id = begin_log.capture.id
  returning c.log_since into shape.noticed_at;
  insert into rowrelay.shape (capture, from_id, noticed_at, begins, was_empty, numbers, names, masks, hidden,
                              key_types, altered_by)
  values (shape.capture, rowrelay.last_change_id(), shape.noticed_at, true,
          -- An empty file has no rows. Searching for live rows could take long while writers wait.
          not exists (select from unnest(rowrelay.captured_tables(capture)) as t(relation)
                      where pg_relation_size(t.relation) > 0
                         -- whose rows are elsewhere
                         or exists (select from pg_foreign_table f where f.ftrelid = t.relation)),
          shape.numbers, shape.names, shape.masks, shape.hidden, shape.key_types, shape.altered_by);
end
$$;
