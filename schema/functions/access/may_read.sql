-- Purpose:    whether the caller may see what was captured of a table. Views that show rows of tables ask it before anything
--             else looks at them; so it is for whoever asks, and not for the owner of the view.
-- Parameters: relation; of one that is gone nobody can tell any more who might read it
-- Result:     true for who may select from the whole table, without a policy that hides rows of it; and for the schema's owner
--             and rowrelay_admin
create or replace function rowrelay.may_read(relation regclass) returns boolean
language plpgsql stable parallel safe cost 1000 set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan as $$ -- whatever who asks has set
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
