-- Purpose:    returns who makes the change, for the log
-- Result:     the setting rowrelay.actor, else the session's user
create or replace function rowrelay.actor() returns text
language sql stable as $$
  select case when pg_catalog.current_setting('rowrelay.actor', true) operator(pg_catalog.<>) ''
              then pg_catalog.current_setting('rowrelay.actor', true) else rowrelay.login_name() end
$$;
