-- Purpose:    sets how long changes are kept, for the log or for single tables. The default is for ever. Running
--             processes drop older changes, see rowrelay.prune().
-- Parameters: an interval of at least a day; 'forever'; or, for tables, 'default': as the rest of the log. Tables;
--             null: the whole log, except tables with a setting of their own
-- Errors:     no interval; shorter than a day; a table is not captured
create or replace function rowrelay.keep(how_long text, relations regclass[] default null) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- For a table, null means the setting of the log.
  forever constant interval := '100000 years';
  chosen   interval;
  captured integer;
begin
  if how_long is null or (how_long = 'default' and relations is null) then
    raise exception 'no interval was given for how long to keep changes' using errcode = 'invalid_parameter_value',
      hint = 'Give an interval such as ''90 days'', or ''forever''.';
  elsif how_long = 'forever' then
    chosen := case when relations is not null then forever end;
  elsif how_long <> 'default' then
    chosen := how_long::interval;
    if chosen < interval '1 day' or chosen > forever then
      raise exception 'changes cannot be kept for %', how_long using errcode = 'invalid_parameter_value',
        detail = 'The log is dropped by whole days.', hint = 'Give an interval of at least a day, or ''forever''.';
    end if;
  end if;
  if relations is null then
    update rowrelay.source set keep = chosen;
    return;
  end if;
  for captured in select (rowrelay.captured(r)).id from unnest(relations) as r loop
    update rowrelay.capture c set keep = chosen where c.id = captured;
  end loop;
end
$$;
