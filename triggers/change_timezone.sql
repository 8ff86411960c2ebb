-- Purpose:    sets the session's time zone to UTC, in which images are written, for the rest of a trigger function. One
--             that was set as an interval with seconds is left alone: it could not be restored by its name, which
--             PostgreSQL does not read, so only the guarded ways may change it (rowrelay.timezone_condition).
-- Result:     the former time zone, see rowrelay.pin_timezone(); null: it was not changed
create or replace function rowrelay.change_timezone() returns text
language plpgsql as $$
declare
  former constant pg_catalog.text := pg_catalog.current_setting('timezone');
  pinned pg_catalog.text;
begin
  if former operator(pg_catalog.~~) '%:%:%' then
    return null;
  end if;
  pinned := pg_catalog.set_config('timezone', 'UTC', true);
  return former;
end
$$;
