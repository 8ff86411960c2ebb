-- Purpose:    returns partitions of rowrelay.change_key for months of which the log has no day left
create or replace function rowrelay.empty_months() returns setof regclass
language sql volatile as $$
  select c.oid::regclass
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    -- a plan may evaluate this for any table, before it has checked that it is a partition
    cross join lateral (select case when c.relname ~ '^change_key_[0-9]{6}$' then to_date(substr(c.relname, 12),
        'YYYYMM') end) as m(month)
   where i.inhparent = 'rowrelay.change_key'::regclass
     and not exists (select from rowrelay.partition_days() p where date_trunc('month', p.day) = m.month)
   order by m.month
$$;
