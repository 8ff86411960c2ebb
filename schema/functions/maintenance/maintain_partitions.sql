-- Purpose:    creates the partitions of rowrelay.change ahead of time, and rowrelay.partition_day(), which tells
--             writers which of them to use. That function only returns days with a partition, so writers never fail: if
--             nobody runs this for a year, changes go to the last partition. It returns no closed day and none before
--             yesterday: a longer transaction goes on in the first open day, so that old days no longer change and can
--             be dropped.
--             Days that were closed while the clock was ahead stay closed, and later open days take their place: a
--             change may be in a day up to a fortnight later.
-- Parameters: days to create ahead
-- Result:     number of partitions created
-- Errors:     lock_not_available: another session holds a lock on rowrelay.change
create or replace function rowrelay.maintain_partitions(days_ahead integer default 14) returns integer
language plpgsql set lock_timeout = '200ms' as $$
declare
  today     date := (now() at time zone 'UTC')::date;
  wanted    date;
  made      integer := 0;
  partition text;
  first_day date;
  last_day  date;
begin
  for wanted in
    -- this many days that are not closed
    select o.day
      from (select g::date as day
              from generate_series(today::timestamp,
                                   today + days_ahead + (select count(*) from rowrelay.day d
                                                          where d.day >= today and d.closed_at is not null)::integer,
                                   interval '1 day') as g) as o
     where not exists (select from rowrelay.day d where d.day = o.day and d.closed_at is not null)
     order by o.day limit days_ahead + 1
  loop
    partition := 'change_' || to_char(wanted, 'YYYYMMDD');
    continue when to_regclass('rowrelay.' || partition) is not null;
    perform rowrelay.add_partition('change', partition, wanted, wanted + 1);
    made := made + 1;
  end loop;

  -- The days from first_day to last_day must have no gap. Gaps arise when nobody runs this for weeks, or by a wrong
  -- clock.
  select min(p.day) into first_day
    from rowrelay.partition_days() p
   where p.day >= today - 1 and not exists (select from rowrelay.day d where d.day = p.day and d.closed_at is not null);
  select min(p.day) into last_day
    from rowrelay.partition_days() p
   where p.day >= first_day
     and not exists (select from rowrelay.partition_days() n
                      where n.day = p.day + 1
                        and not exists (select from rowrelay.day d where d.day = n.day and d.closed_at is not null));

  update rowrelay.source s set open_from = first_day, open_until = last_day, open_since = clock_timestamp()
   where (s.open_from, s.open_until) is distinct from (first_day, last_day)
      or s.open_since > clock_timestamp(); -- set while the clock was ahead
  if found then
    -- Triggers call it under the application's search_path.
    execute format('create or replace function rowrelay.partition_day() returns date language sql stable as %L', format(
      'select least(greatest(pg_catalog.timezone(''UTC'', pg_catalog.now())::pg_catalog.date, %L::pg_catalog.date), '
      '%L::pg_catalog.date)',
      first_day, last_day));
    comment on function rowrelay.partition_day() is
      'the day (UTC) on which the transaction began, or the nearest that is open; made by '
      'rowrelay.maintain_partitions()';
  end if;
  return made;
end
$$;
