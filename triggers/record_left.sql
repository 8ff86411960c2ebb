-- Purpose:    logs the rows whose keys note_left() has noted, as they are after the truncate
-- Parameters: capture id; the truncated table
create or replace function rowrelay.record_left(capture_id integer, relation regclass) returns void
language plpgsql set lock_timeout = '100ms' set jit = off as $$
declare
  noted constant text := 'rowrelay.left_' || relation::oid;
begin
  perform rowrelay.record_state(capture_id, left_over.key, null)
     from unnest(nullif(current_setting(noted, true), '')::text[]) as left_over(key);
  perform set_config(noted, '', true);
exception when others then -- the setting is not what was noted
  perform rowrelay.add_change(capture_id, 't', null, null, null, null, sqlerrm);
end
$$;
