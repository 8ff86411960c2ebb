-- Purpose:    finds changes in days that had none, or no partition, when the days around them were sealed
-- Result:     one row for each of them, as for rowrelay.verify_log()
create or replace function rowrelay.verify_unsealed()
returns table (problem text, day date, change_id bigint, relation text, key text, detail text)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  unsealed date;
begin
  for unsealed in
    select p.day from rowrelay.partition_days() p
     where p.day between (select min(s.day) from rowrelay.seal s)
       and (select max(s.day) from rowrelay.seal s where s.ends_day)
       and not exists (select from rowrelay.seal s where s.day = p.day)
       -- dropped before it was sealed
       and not exists (select from rowrelay.day d where d.day = p.day and d.dropped_at is not null)
     order by p.day
  loop
    return query execute format(
      'select ''inserted'', h.day, h.id, coalesce(to_regclass(c.relation::text)::text, c.relation_name), h.key, '
      'null::text'
      '  from rowrelay.change h left join rowrelay.capture c on c.id = h.capture where h.day = %L order by h.id',
        unsealed);
  end loop;
end
$$;
