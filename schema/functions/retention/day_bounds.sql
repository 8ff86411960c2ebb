-- Purpose:    returns the range of change ids and times of each day of the log. It reads the ends of each partition's
--             index, a tenth of a millisecond a day. Ids of days may overlap: a transaction that began before midnight
--             writes to the day on which it began.
-- Result:     one row for each day with changes: its first and last id, and when those two were captured
create or replace function rowrelay.day_bounds()
returns table (day date, first_id bigint, last_id bigint, first_at timestamptz, last_at timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  partition name;
begin
  for partition in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = 'rowrelay.change'::regclass
  loop
    begin
      return query execute format(
        'select a.day, a.id, z.id, a.captured_at, z.captured_at
           from (select c.day, c.id, c.captured_at from rowrelay.%1$I c order by c.id limit 1) a,
                (select c.id, c.captured_at from rowrelay.%1$I c order by c.id desc limit 1) z', partition);
    exception when undefined_table then
      null; -- dropped meanwhile
    end;
  end loop;
end
$$;
