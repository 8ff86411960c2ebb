-- Purpose:    identifies the server, its current run, and this copy of the database
-- Result:     server: [1] the system identifier; the timeline, which differs after point-in-time recovery and after a
--             failover; and oids that differ in a restored dump; [2] when the server started; [3] when its statistics
--             began: any crash resets them, even one after which the postmaster goes on. It is the oldest of several
--             times, because a user may reset some statistics, but a crash resets all. is_empty: all statistics began
--             at one moment, as after a crash
create or replace function rowrelay.this_server(out server text[], out is_empty boolean)
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
begin
  select array[concat_ws(' ', rowrelay.system_identifier(),
                         left(pg_walfile_name(pg_current_wal_insert_lsn()), 8), rowrelay.database_oids()),
               (date_part('epoch', pg_postmaster_start_time()) * 1000000)::bigint::text,
               (date_part('epoch', min(s.began)) * 1000000)::bigint::text],
         count(distinct s.began) = 1
    into server, is_empty
    from (select stats_reset from pg_stat_bgwriter
          union all select stats_reset from pg_stat_archiver
          union all select stats_reset from pg_stat_slru) as s(began);
end
$$;
