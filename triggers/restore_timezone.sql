-- Purpose:    undoes rowrelay.pin_timezone()
-- Parameters: former: its result; result: what to return, so that one expression does both
create or replace function rowrelay.restore_timezone(former text, result boolean) returns boolean
language plpgsql as $$
declare
  pinned pg_catalog.text;
begin
  if former operator(pg_catalog.<>) '' then
    pinned := pg_catalog.set_config('timezone', former, true);
  end if;
  return result;
end
$$;
