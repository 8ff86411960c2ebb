-- Purpose:    makes the partitions of rowrelay.change ahead of time, and then rowrelay.partition_day(), which tells the
--             writers which of them to use. That function never names a day without a partition, so that a writer is
--             safe even when nobody has run this for a year: what is written then goes to the last partition there is.
--             Nor does it name a day before yesterday, or one that is closed: a transaction that lasts for longer goes on
--             in the first open day, so that old days stay as they are and can be dropped.
--             A new partition is attached rather than created in place, because that lets writers go on.
-- Parameters: days to make ahead
-- Result:     number of partitions made
-- Errors:     lock_not_available when rowrelay.change is locked by somebody for longer than a moment
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
  for wanted in select today + n from generate_series(0, days_ahead) as n loop
    partition := 'change_' || to_char(wanted, 'YYYYMMDD');
    continue when to_regclass('rowrelay.' || partition) is not null;
    execute format('create table rowrelay.%I (like rowrelay.change including all)', partition);
    execute format('alter table rowrelay.change attach partition rowrelay.%I for values from (%L) to (%L)',
                   partition, wanted, wanted + 1);
    made := made + 1;
  end loop;

  -- What lies between the two must have no gap. There is one when nobody has run this for weeks, or a clock went wrong.
  select min(p.day) into first_day
    from rowrelay.partition_days() p
   where p.day >= greatest(today - 1, (select max(d.day) + 1 from rowrelay.day d where d.closed_at is not null));
  select min(p.day) into last_day
    from rowrelay.partition_days() p
   where p.day >= first_day and not exists (select from rowrelay.partition_days() n where n.day = p.day + 1);

  update rowrelay.source s set open_from = first_day, open_until = last_day, open_since = clock_timestamp()
   where (s.open_from, s.open_until) is distinct from (first_day, last_day);
  if found then
    -- The triggers call it under whatever search_path the application has.
    execute format('create or replace function rowrelay.partition_day() returns date language sql stable as %L', format(
      'select least(greatest(pg_catalog.timezone(''UTC'', pg_catalog.now())::pg_catalog.date, %L::pg_catalog.date), %L::pg_catalog.date)',
      first_day, last_day));
    comment on function rowrelay.partition_day() is
      'the day (UTC) on which the transaction began, or the nearest that is open; made by rowrelay.maintain_partitions()';
  end if;
  return made;
end
$$;
