-- Purpose:    whether not to capture what this transaction writes: it has set rowrelay.skip, or is rowrelay's own. That
--             is one that has set rowrelay.origin, as processes do where they deliver, and whose role may do what only
--             processes may: write a target's fence in this database, or take from the queue. In any other session
--             rowrelay.origin, which any role can set, keeps nothing out of the log.
-- Parameters: capture_origin: whether to capture rowrelay's own writes
create or replace function rowrelay.is_left_out(capture_origin boolean) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- current_user is the owner of the trigger's function
  role constant name := coalesce(nullif(current_setting('role'), 'none'), session_user);
begin
  -- as PostgreSQL reads a boolean, but without an error
  return coalesce(lower(current_setting('rowrelay.skip', true)) = any ('{1,on,t,tr,tru,true,y,ye,yes}')
                  or not capture_origin and current_setting('rowrelay.origin', true) <> ''
                     and (has_table_privilege(role, to_regclass('rowrelay_target.fence'), 'update') is true
                          or has_table_privilege(role, 'rowrelay.queue', 'delete')), false);
end
$$;
