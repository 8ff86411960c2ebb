-- Purpose:    returns the partitions of rowrelay.change
-- Result:     one row for each: its day and its table
create or replace function rowrelay.partition_days() returns table (day date, partition regclass)
language sql stable as $$
  -- a plan may evaluate this for any table, before it has checked that it is a partition
  select case when c.relname ~ '^change_[0-9]{8}$' then to_date(substr(c.relname, 8), 'YYYYMMDD') end, c.oid::regclass
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
   where i.inhparent = 'rowrelay.change'::regclass
$$;
