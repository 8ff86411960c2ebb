-- Purpose:    identifies the server, its current run, and this copy of the database
-- Result:     [1] the system identifier, '': it may not be asked for; [2] oids that differ in a restored dump and in a
--             copy of the database; [3] the major version; [4] the timeline, which differs after point-in-time recovery
--             and after a failover; [5] when the server started; [6] up to where it has recovered, from a crash, a
--             backup, or as a standby; empty: it had been stopped properly
create or replace function rowrelay.this_server() returns text[]
language sql volatile set search_path = pg_catalog, pg_temp as $$
  select array[coalesce(rowrelay.system_identifier(), ''), rowrelay.database_oids(),
               (current_setting('server_version_num')::integer / 10000)::text, rowrelay.timeline()::text,
               rowrelay.server_started()::text, coalesce(pg_last_wal_replay_lsn()::text, '')]
$$;
