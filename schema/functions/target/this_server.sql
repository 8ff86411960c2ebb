-- Purpose:    identifies the server, its current run, and this copy of the database
-- Result:     [1] the system identifier; the timeline, which differs after point-in-time recovery and after a failover;
--             and oids that differ in a restored dump; [2] when the server started; [3] up to where it has recovered,
--             from a crash, a backup, or as a standby; empty: it had been stopped properly
create or replace function rowrelay.this_server() returns text[]
language sql volatile set search_path = pg_catalog, pg_temp as $$
  select array[concat_ws(' ', rowrelay.system_identifier(),
                         left(pg_walfile_name(pg_current_wal_insert_lsn()), 8), rowrelay.database_oids()),
               rowrelay.server_started()::text, coalesce(pg_last_wal_replay_lsn()::text, '')]
$$;
