-- Purpose:    returns the transactions that can still commit a change id assigned before now: a trigger locks
--             rowrelay.change before it takes an id, and keeps the lock to the end. Read the last id first, then this
--             list.
-- Result:     virtual transaction ids, or xids of prepared transactions; empty when there is none
create or replace function rowrelay.writers() returns text[]
language sql volatile as $$
  select coalesce(array_agg(distinct l.virtualtransaction), '{}')
    from pg_catalog.pg_locks l
   where l.locktype = 'relation'
     and l.database = (select d.oid from pg_catalog.pg_database d where d.datname = current_database())
     and l.relation = 'rowrelay.change'::regclass
     and l.mode = 'RowExclusiveLock'
     and l.granted
$$;
