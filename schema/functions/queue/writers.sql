-- Purpose:    the transactions that can still commit a change id handed out before now: a trigger takes this lock on
--             rowrelay.change before it takes a number, and keeps it to the end. Take the last id first, then this list.
-- Result:     one line of virtual transaction ids, or xids of prepared transactions; empty when there is none
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
