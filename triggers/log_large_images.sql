-- Purpose:    writes a change with large images to the log. PostgreSQL refuses a row of more than a gigabyte, and may
--             lack the memory for less, although the writer's own statement succeeded: then the change is logged
--             without images, and says why. That takes a subtransaction, which other changes avoid.
-- Parameters: as for rowrelay.log_change()
-- Result:     bytes of the images in the log
create or replace function rowrelay.log_large_images(capture integer, op "char", key text, actor text, db_user text,
                                                     old_row json,
                                                     new_row json, caveat json, bytes integer) returns integer
language plpgsql set search_path = pg_catalog, pg_temp set jit = off as $$
begin
  insert into rowrelay.change (id, txid, captured_at, day, capture, op, key, actor, db_user,
                               application_name, client_addr, old_row, new_row, caveat)
  values (rowrelay.next_change_id(), pg_current_xact_id(), clock_timestamp(), rowrelay.partition_day(), capture, op,
          key, actor, db_user, current_setting('application_name'), rowrelay.client_addr(), old_row, new_row, caveat);
  return bytes;
exception when program_limit_exceeded or out_of_memory or internal_error then
  insert into rowrelay.change (id, txid, captured_at, day, capture, op, key, actor, db_user,
                               application_name, client_addr, caveat)
  values (rowrelay.next_change_id(), pg_current_xact_id(), clock_timestamp(), rowrelay.partition_day(), capture, op,
          key, actor, db_user, current_setting('application_name'), rowrelay.client_addr(),
          rowrelay.traced(json_build_object('problem', sqlerrm)));
  return 0;
end
$$;
