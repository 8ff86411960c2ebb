-- Purpose:    returns partitions of days whose changes have been dropped
create or replace function rowrelay.empty_days() returns setof regclass
language sql volatile as $$
  select p.partition
    from rowrelay.day d
    join rowrelay.partition_days() p on p.day = d.day
   where d.dropped_at is not null and d.restored_at is null
   order by d.day
$$;
