-- Purpose:    whether this database was restored from a dump, or copied, since rowrelay.skip_lost_ids() looked last.
--             Its transactions may have other numbers then. A restore in a new server may get the same oids as the
--             database that was dumped, which was restored in a new server itself; but a row that knows which
--             transaction wrote it has been written by another one. (pg_upgrade, standbys and backups keep both.)
create or replace function rowrelay.is_restored() returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  select exists (select from rowrelay.source s
                  where substring(s.server[1] from '[0-9]+ [0-9]+$') <> rowrelay.database_oids())
      or exists (select from rowrelay.migration m where m.written_by <> m.xmin::text::bigint);
$$;
