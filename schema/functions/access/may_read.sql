-- Purpose:    whether the caller may see the captured changes of a table. Views that show rows call it before any other
--             condition; it checks the caller's rights, not those of the view's owner.
-- Parameters: relation; for one that is gone the rights are unknown, so the result is false
-- Result:     true for users who may select from the whole table and from whom no policy hides rows of it, for the
--             schema's owner and for rowrelay_admin
create or replace function rowrelay.may_read(relation regclass) returns boolean
language plpgsql stable parallel safe cost 1000 set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan as $$ -- whatever the caller has set
begin
  if rowrelay.may_read_all() then
    return true;
  end if;
  if has_table_privilege(relation, 'select') then
    return not row_security_active(relation);
  end if;
  return false;
end
$$;
