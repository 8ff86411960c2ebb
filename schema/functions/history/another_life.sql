-- Purpose:    tells whether this database is another one than that which has delivered until now. Nothing is delivered
--             then until a person, or option --here, says that it is the source: see rowrelay.skip_lost_ids(). It asks
--             what the server says of itself, and nothing that upkeep changes (a row's xmin, a file): the identifier of
--             the server, and the oids of the database and of a sequence, which a restore of the schema makes again. A
--             standby that takes over has the same ones, and so have a restart and files that are put back.
-- Result:     null: it is the same. 'restored or copied': transactions may have other numbers here. 'upgraded or
--             copied': the oids are the same in a newer server, whose transactions go on from ours, as pg_upgrade
--             leaves it (from PostgreSQL 15 on). 'recovered to a point in time': a setting says that the new timeline
--             is no failover
create or replace function rowrelay.another_life() returns text
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select case
           -- no row: it is being restored
           when s.id is null or s.server[2] <> this.oids then 'restored or copied'
           when s.server[1] not in ('', this.server) then
             case when this.version > s.server[3]::integer
                       and not exists (select from rowrelay.server_start n
                                        where n.next_txid > pg_snapshot_xmax(pg_current_snapshot()))
                  then 'upgraded or copied' else 'restored or copied' end
           when not pg_is_in_recovery() and s.server[4] <> rowrelay.timeline()::text
                and concat(current_setting('recovery_target'), current_setting('recovery_target_time'),
                           current_setting('recovery_target_name'), current_setting('recovery_target_xid'),
                           current_setting('recovery_target_lsn')) <> '' then 'recovered to a point in time'
         end
    from (select rowrelay.system_identifier() as server, rowrelay.database_oids() as oids,
                 current_setting('server_version_num')::integer / 10000 as version) as this
    left join rowrelay.source s on true
$$;
