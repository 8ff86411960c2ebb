-- Purpose:    lists the days in rowrelay.change_key from the last one back, for a search that has to know when to stop.
--             It reveals nothing about the changes.
-- Result:     day; older_to: no change of an earlier day has a larger id than this, null: unknown
create or replace function rowrelay.key_days_from_last() returns table (day date, older_to bigint)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return query
    with listed as (
      select g.day::date as day, case when d.closed_at is not null then coalesce(d.last_id, 0) end as last_id
        from rowrelay.key_days as span
       cross join lateral generate_series(span.first::timestamp, span.last, interval '1 day') as g(day)
        left join rowrelay.day d on d.day = g.day::date
       where exists (select from rowrelay.partition_days() p where p.day = g.day::date)
    )
    select l.day,
           case when bool_and(l.last_id is not null)
             over older is not false then coalesce(max(l.last_id) over older, 0) end
      from listed l
    window older as (order by l.day rows between unbounded preceding and 1 preceding)
     order by l.day desc;
end
$$;
