-- Purpose:    tells this log from others: from that of another source, and of the database that it was restored from. A
--             mark is made when the schema is installed, and stays with the database: over restarts, on its standbys,
--             and in an upgrade of the server that keeps its oids. A restore or a copy has other oids and so another
--             mark, which the next process stores (rowrelay.skip_lost_ids()).
create or replace function rowrelay.log_mark() returns text
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  here   constant text := rowrelay.database_oids();
  stored record;
begin
  select s.log_mark, substring(s.server[1] from '[0-9]+ [0-9]+$') as place into stored from rowrelay.source s;
  if stored.place is null or stored.place = here then
    return stored.log_mark;
  end if;
  return left(md5(concat_ws(' ', stored.log_mark, here, rowrelay.system_identifier())), 8);
end
$$;
