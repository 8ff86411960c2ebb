-- Purpose:    how much room the log takes
-- Result:     its first day; how many days it has, today's included; bytes on disk, with its indexes
create or replace function rowrelay.log_size(out first_day date, out days integer, out bytes bigint)
language sql stable as $$
  select min(p.day), count(*) filter (where p.day <= (now() at time zone 'UTC')::date), sum(p.bytes)
    from (select d.day, pg_total_relation_size(d.partition) as bytes from rowrelay.partition_days() as d
          union all
          select null, pg_total_relation_size(i.inhrelid) from pg_inherits i
           where i.inhparent = 'rowrelay.change_key'::regclass) as p
$$;
