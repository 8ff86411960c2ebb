-- Purpose:    sees to it that the session's time zone is UTC, in which images are written, for the rest of a trigger
--             function. It is part of the plan of whoever calls it, and costs no call where it is UTC already.
-- Result:     the time zone that the caller has to restore (rowrelay.restore_timezone); empty: none; null: it could not
--             be changed
create or replace function rowrelay.pin_timezone() returns text
language sql as $$
  select case when pg_catalog.current_setting('timezone') operator(pg_catalog.<>) all ('{UTC,Etc/UTC}')
              then rowrelay.change_timezone() else '' end
$$;
