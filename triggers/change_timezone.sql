-- Purpose:    sets the session's time zone to UTC, in which images are written, for the rest of a trigger function
-- Result:     the former time zone; the caller has to restore it (rowrelay.restore_timezone)
create or replace function rowrelay.change_timezone() returns text
language plpgsql as $$
declare
  former constant pg_catalog.text := pg_catalog.current_setting('timezone');
  pinned pg_catalog.text;
begin
  pinned := pg_catalog.set_config('timezone', 'UTC', true);
  return former;
end
$$;
