-- Purpose:    whether not to capture what this transaction writes: it has set rowrelay.skip, or is rowrelay's own
-- Parameters: capture_origin: whether to capture rowrelay's own writes
create or replace function rowrelay.is_left_out(capture_origin boolean) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- as PostgreSQL reads a boolean, but without an error
  return coalesce(lower(current_setting('rowrelay.skip', true)) = any ('{1,on,t,tr,tru,true,y,ye,yes}')
                  or not capture_origin and current_setting('rowrelay.origin', true) <> '', false);
end
$$;
