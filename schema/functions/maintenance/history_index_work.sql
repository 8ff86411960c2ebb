-- Purpose:    lists the indexes of closed days that are wanted and missing, and those that are no longer wanted
-- Result:     name of the index; its partition; id in rowrelay.history_index, null: to be dropped; expression, method;
--             day
create or replace function rowrelay.history_index_work() returns table (name text, partition regclass, wanted integer,
                                                                        expression text, method text, day date)
language sql stable set search_path = pg_catalog, pg_temp as $$
  select w.name, p.partition, x.id, x.expression, x.method, p.day
    from rowrelay.history_index x
    cross join rowrelay.partition_days() p
    join rowrelay.day d on d.day = p.day and d.closed_at is not null
    cross join lateral (select format('history_%s_%s', x.id, to_char(p.day, 'YYYYMMDD'))) as w(name)
   where p.day <> all (x.failed)
     and not exists (select from pg_index i join pg_class c on c.oid = i.indexrelid
                      where i.indrelid = p.partition and c.relname = w.name)
  union all
  select c.relname, p.partition, null, null, null, p.day
    from rowrelay.partition_days() p
    join pg_index i on i.indrelid = p.partition
    join pg_class c on c.oid = i.indexrelid and c.relname ~ '^history_[0-9]+_[0-9]{8}$'
   where not exists (select from rowrelay.history_index x where x.id = split_part(c.relname, '_', 2)::integer)
$$;
