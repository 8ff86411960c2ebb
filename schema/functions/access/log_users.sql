-- Purpose:    returns the other transactions that hold any lock on the log as a whole
-- Result:     virtual transaction ids
create or replace function rowrelay.log_users() returns text[]
language sql volatile as $$
  select coalesce(array_agg(distinct l.virtualtransaction), '{}')
    from pg_catalog.pg_locks l
   where l.locktype = 'relation'
     and l.database = (select d.oid from pg_catalog.pg_database d where d.datname = current_database())
     and l.relation = 'rowrelay.change'::regclass
     and l.granted and l.pid is distinct from pg_catalog.pg_backend_pid()
$$;
