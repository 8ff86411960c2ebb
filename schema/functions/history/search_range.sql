-- Purpose:    returns the range of ids and the partitions that contain all changes of some time, by ticks and closed
--             days; without these the range is larger than necessary
-- Parameters: first and last time, null: no bound
-- Result:     ids and days outside of which there is no such change
create or replace function rowrelay.search_range(since timestamptz, until timestamptz, out first_id bigint,
                                                 out last_id bigint,
                                                 out days date[])
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- a writer may pause between taking a change's id and its time
  leeway constant interval := '1 min';
begin
  select coalesce(max(t.low), 0) into first_id
    from rowrelay.tick t
   where t.id < (select min(n.id) from rowrelay.tick n where n.taken_at >= since - leeway);
  select coalesce(min(t.high), 9223372036854775807) into last_id
    from rowrelay.tick t
   where t.id > (select max(n.id) from rowrelay.tick n where n.taken_at <= until + leeway);
  days := array(select p.day
                  from rowrelay.partition_days() p
                  left join rowrelay.day d on d.day = p.day and d.closed_at is not null
                 where d.day is null or d.last_id > search_range.first_id and d.first_id <= search_range.last_id);
end
$$;
