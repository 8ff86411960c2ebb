-- Purpose:    the partitions of rowrelay.change
-- Result:     one row for each: its day, and the table
create or replace function rowrelay.partition_days() returns table (day date, partition regclass)
language sql stable as $$
  select to_date(substr(c.relname, 8), 'YYYYMMDD'), c.oid::regclass
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
   where i.inhparent = 'rowrelay.change'::regclass
$$;
