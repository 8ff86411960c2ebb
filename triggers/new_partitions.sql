-- Purpose:    returns partitions that came after their table was captured. They have row triggers, which PostgreSQL
--             makes at once, and none for TRUNCATE.
-- Parameters: capture
create or replace function rowrelay.new_partitions(capture rowrelay.capture) returns regclass[]
language sql stable as $$
  with lacking(relation) as (
    select w.relation from rowrelay.triggers_to_create(capture, rowrelay.captured_tables(capture), false, false) as w
     where w.name = '!rowrelay_truncate'
  )
  select coalesce(array_agg(l.relation) filter (where c.relispartition), '{}')
    from lacking l join pg_class c on c.oid = l.relation
  having bool_and(l.relation <> capture.relation)
$$;
