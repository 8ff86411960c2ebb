-- Purpose:    returns the name under which the session logged in. Its role may have been dropped since, as that of a
--             temporary login: then SESSION_USER is an error, and a writer must not fail.
create or replace function rowrelay.login_name() returns text
language sql stable as $$
  -- a process of the server that has logged in as nobody has no such setting, and is a superuser
  select case when pg_catalog.current_setting('session_authorization') operator(pg_catalog.=) ''
              then session_user::pg_catalog.text else pg_catalog.current_setting('session_authorization') end
$$;
