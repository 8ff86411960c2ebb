-- Purpose:    tells this run of this server, and this copy of the database in it, from all others: by oids, the
--             timeline, when the server was started, and up to where it has recovered. A crash leaves another end of
--             the recovery even where the postmaster goes on, and a promoted standby has another timeline. It is part
--             of the plan of whoever calls it, because a session asks before its first change.
-- Result:     a number that is the same for as long as no change id can have been lost, as a sequence can keep it
create or replace function rowrelay.server_run() returns bigint
language sql volatile as $$
  select pg_catalog.int8and(9223372036854775807, pg_catalog.hashtextextended(pg_catalog.concat_ws(' ',
    -- the database's oid, without a query
    pg_catalog.split_part(pg_catalog.reverse(pg_catalog.pg_relation_filepath('rowrelay.migration')), '/', 2),
    'rowrelay.change_id'::pg_catalog.regclass::pg_catalog.oid,
    pg_catalog.substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_insert_lsn()), 1, 8),
    -- not as float8, whose text depends on the session
    (pg_catalog.date_part('epoch', pg_catalog.pg_postmaster_start_time())
     operator(pg_catalog.*) 1000000::pg_catalog.float8)::pg_catalog.int8,
    pg_catalog.pg_last_wal_replay_lsn()), 0))
$$;
