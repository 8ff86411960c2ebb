-- Purpose:    whether the log is as the caller's snapshot thinks. What is dropped is gone at once for everybody, also for a
--             transaction that began before; asked after reading, this tells whether anything was missing.
-- Result:     false: a day has been dropped since; what was read of the log may lack it
create or replace function rowrelay.sees_log() returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select coalesce(pg_sequence_last_value('rowrelay.prunings'::regclass), 0) <= s.prunings from rowrelay.source s
$$;
