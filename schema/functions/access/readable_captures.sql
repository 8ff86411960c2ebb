-- Purpose:    returns the captures whose changes the caller may see: views call it once, not for each row
-- Result:     capture ids
create or replace function rowrelay.readable_captures() returns integer[]
language plpgsql stable parallel safe cost 1000 set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan as $$ -- whatever the caller has set
begin
  return case when rowrelay.may_read_all() then array(select c.id from rowrelay.capture c)
              else array(select c.id from rowrelay.capture c where rowrelay.may_read(c.relation)) end;
end
$$;
