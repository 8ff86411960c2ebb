-- Purpose:    returns who is logged in, for the log, also inside a security definer function
-- Result:     the session's user; after SET ROLE anna, "web as anna"
create or replace function rowrelay.db_user() returns text
language sql stable as $$
  select case when pg_catalog.current_setting('role') operator(pg_catalog.=) 'none' then rowrelay.login_name()
              else pg_catalog.concat(rowrelay.login_name(), ' as ', pg_catalog.current_setting('role')) end
$$;
