-- Purpose:    sets how long changes are kept, for the log or for single tables. The default is for ever. Running
--             processes drop older changes, see rowrelay.prune().
-- Parameters: an interval of at least a day; 'forever'; or, for tables, 'default': as the rest of the log. Tables;
--             null: the whole log, except tables with a setting of their own
-- Errors:     no interval; shorter than a day; a table is not captured
create or replace function rowrelay.keep(how_long text, relations regclass[] default null) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- For a table, null means the setting of the log.
  forever constant interval := rowrelay.interval_to_keep('forever');
  chosen   interval;
  captured integer;
begin
  perform rowrelay.lock_configuration();
  chosen := rowrelay.interval_to_keep(case when how_long <> 'default' or relations is not null then how_long end);
  if relations is null then
    update rowrelay.source set keep = nullif(chosen, forever) where true;
    return;
  end if;
  for captured in select (rowrelay.captured(r)).id from unnest(relations) as r loop
    update rowrelay.capture c set keep = chosen where c.id = captured;
  end loop;
end
$$;
