-- Purpose:    rowrelay.maintain(), unless it began within the last 30 seconds: running processes call this, so that one
--             of them at a time does it
-- Result:     as rowrelay.maintain()
create or replace function rowrelay.maintain_when_due() returns setof text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if rowrelay.take_job('maintain', '30 s') then
    return query select m from rowrelay.maintain() as m;
  end if;
end
$$;
