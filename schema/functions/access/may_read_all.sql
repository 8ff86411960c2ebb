-- Purpose:    whether the caller may see the captured changes of all tables: the schema's owner and rowrelay_admin may
create or replace function rowrelay.may_read_all() returns boolean
language plpgsql stable parallel safe cost 1000 set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan as $$ -- whatever the caller has set
begin
  return pg_has_role((select n.nspowner from pg_namespace n where n.nspname = 'rowrelay'), 'usage')
         or exists (select from pg_roles r where r.rolname = 'rowrelay_admin' and pg_has_role(r.oid, 'usage'));
end
$$;
