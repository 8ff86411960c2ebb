-- Purpose:    which run of which server this is, and of which copy of this database
-- Result:     server: [1] the server's system identifier, the timeline, which another point in time and a standby that takes over
--             have of their own, and numbers that a restored dump has of its own; [2] since when it runs; [3] since when it has
--             statistics, because a crash empties them, also one after which the server goes on without a new start. That is the
--             oldest of several times, since anybody may reset some statistics, and a crash resets all.
--             is_empty: all of its statistics began at one moment, as after a crash
create or replace function rowrelay.this_server(out server text[], out is_empty boolean)
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  system text;
begin
  begin
    select c.system_identifier::text into system from pg_control_system() as c;
  exception when insufficient_privilege or feature_not_supported then -- a managed server may keep it to itself
  end;
  select array[concat_ws(' ', system, left(pg_walfile_name(pg_current_wal_insert_lsn()), 8), d.oid, 'rowrelay.change_id'::regclass::oid),
               (date_part('epoch', pg_postmaster_start_time()) * 1000000)::bigint::text,
               (date_part('epoch', min(s.began)) * 1000000)::bigint::text],
         count(distinct s.began) = 1
    into server, is_empty
    from pg_database d,
         (select stats_reset from pg_stat_bgwriter
          union all select stats_reset from pg_stat_archiver
          union all select stats_reset from pg_stat_slru) as s(began)
   where d.datname = current_database()
   group by d.oid;
end
$$;
