-- Purpose:    names who keeps everybody from a backfill without being at work on it: anybody who may log in can take an
--             advisory lock, such as that of a backfill's driver (rowrelay.backfill_lock)
-- Parameters: number of a backfill
-- Result:     for people: the sessions that hold the lock and may not run backfills; null: there are none
create or replace function rowrelay.backfill_stranger(backfill_id integer) returns text
language sql stable as $$
  select format('process %s of user %s, which may not run backfills, holds its lock: select pg_terminate_backend(%s)',
                l.pid, a.usename, l.pid)
    from pg_catalog.pg_locks l
    join pg_catalog.pg_stat_activity a on a.pid = l.pid
   where l.locktype = 'advisory' and l.classid = rowrelay.backfill_lock()::oid and l.objid = backfill_id::oid
     and l.objsubid = 2 and l.granted
     and l.database = (select d.oid from pg_catalog.pg_database d where d.datname = pg_catalog.current_database())
     and not pg_catalog.has_function_privilege(a.usesysid, 'rowrelay.backfill_step(integer,integer)', 'execute')
   order by l.pid limit 1
$$;
