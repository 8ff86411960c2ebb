-- Purpose:    whether the caller's snapshot shows the whole log. Dropped days vanish at once, even for transactions
--             that began before; called after reading, this tells whether anything was missing.
-- Result:     false: a day was dropped after the snapshot was taken, and may be missing in what was read
create or replace function rowrelay.sees_log() returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select coalesce(pg_sequence_last_value('rowrelay.prunings'::regclass), 0) <= s.prunings from rowrelay.source s
$$;
