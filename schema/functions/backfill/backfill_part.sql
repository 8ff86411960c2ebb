-- Purpose:    returns the next table that a backfill reads: the captured one, its partitions or inheritance children,
--             in the order of their oids
-- Parameters: capture; the table that was read last (null: none)
-- Result:     the next one; null: there is none
create or replace function rowrelay.backfill_part(capture rowrelay.capture, after regclass) returns regclass
language sql stable as $$
  select m
    from unnest(rowrelay.captured_tables(capture)) as m
    join pg_class c on c.oid = m and c.relkind = 'r'
   where after is null or m::oid > after::oid
   order by m::oid limit 1
$$;
