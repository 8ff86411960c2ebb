-- Purpose:    marks in the log that a change of a key was left out; see rowrelay.nesting_statements()
-- Parameters: capture id; key; hash that chooses the lane; image before, for documents that the row has left; null:
--             there are none
create or replace function rowrelay.mark_left_out(capture_id integer, key text, hash integer, old_row json)
returns void
language plpgsql as $$
begin
  if old_row is null then
    perform rowrelay.log_change(capture_id, 'r', key, rowrelay.actor(), rowrelay.db_user(), null, null,
                                '{"left_out":true}', null, 0);
  else
    perform rowrelay.add_change(capture_id, 'r', key, hash, old_row, null, null, '{"left_out":true}');
  end if;
end
$$;
