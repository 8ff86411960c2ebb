-- Purpose:    whether the caller may see a change
-- Parameters: id; day
create or replace function rowrelay.may_read_change(change_id bigint, day date) returns boolean
language plpgsql stable parallel safe cost 1000 set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan as $$ -- whatever the caller has set
begin
  return exists (select from rowrelay.readable_change h
                  where h.id = may_read_change.change_id and h.day = may_read_change.day);
end
$$;
