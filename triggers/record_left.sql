-- Purpose:    logs the rows whose keys keys_left() has found, as they are after the truncate
-- Parameters: capture id; the keys
create or replace function rowrelay.record_left(capture_id integer, keys text[]) returns void
language plpgsql set lock_timeout = '100ms' set jit = off as $$
begin
  perform rowrelay.record_state(capture_id, left_over.key, null) from unnest(keys) as left_over(key);
end
$$;
