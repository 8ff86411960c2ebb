-- Purpose:    returns the transactions that are writing to a capture's tables now, and may go on using the trigger
--             function as it was when they began
-- Parameters: capture
-- Result:     virtual transaction ids; empty when there is none
create or replace function rowrelay.backfill_writers(capture rowrelay.capture) returns text[]
language sql volatile as $$
  select coalesce(array_agg(distinct l.virtualtransaction), '{}')
    from pg_locks l
   where l.locktype = 'relation'
     and l.database = (select d.oid from pg_database d where d.datname = current_database())
     and l.relation = any (rowrelay.captured_tables(capture)::oid[])
     and l.mode in ('RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
     and l.granted
     and l.pid is distinct from pg_backend_pid()
$$;
