-- Purpose:    undoes rowrelay.change_timezone()
-- Parameters: former: its result, null when the time zone was not changed
-- Result:     false
create or replace function rowrelay.restore_timezone(former text) returns boolean
language plpgsql as $$
declare
  pinned pg_catalog.text;
begin
  if former is not null then
    pinned := pg_catalog.set_config('timezone', former, true);
  end if;
  return false;
end
$$;
