-- Purpose:    returns the tables whose history the caller may see: views call it once, not for each row
-- Result:     tables that are or were captured
create or replace function rowrelay.readable_relations() returns regclass[]
language plpgsql stable parallel safe cost 1000 set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan as $$ -- whatever the caller has set
begin
  return case when rowrelay.may_read_all() then array(select distinct c.relation::oid from rowrelay.capture c)
              else array(select distinct c.relation::oid from rowrelay.capture c
                         where rowrelay.may_read(c.relation)) end;
end
$$;
