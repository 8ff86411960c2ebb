-- Purpose:    the timeline of this server, which is another one after a failover or a recovery to a point in time
create or replace function rowrelay.timeline() returns integer
language sql volatile set search_path = pg_catalog, pg_temp as $$
  select ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::integer;
$$;
