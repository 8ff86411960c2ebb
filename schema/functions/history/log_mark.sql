-- Purpose:    tells this log from others: from that of another source, and of the database that it was restored from. A
--             mark is made when the schema is installed, and stays with the database: over restarts, on its standbys,
--             and in an upgrade of the server that keeps its oids. A restore or a copy has another mark
--             (rowrelay.another_life()), which rowrelay.skip_lost_ids() stores.
create or replace function rowrelay.log_mark() returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select case when rowrelay.another_life() is distinct from 'restored or copied' then s.log_mark
              else left(md5(concat_ws(' ', s.log_mark, rowrelay.database_oids(), rowrelay.system_identifier())), 8) end
    from rowrelay.source s
$$;
