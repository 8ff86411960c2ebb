-- Purpose:    returns partitions and inheritance children that came after their table was captured. Partitions have row
--             triggers, which PostgreSQL makes at once, and none for TRUNCATE; children have none.
-- Parameters: capture
create or replace function rowrelay.new_parts(capture rowrelay.capture) returns regclass[]
language sql stable as $$
  with lacking(relation) as (
    select w.relation from rowrelay.triggers_to_create(capture, rowrelay.captured_tables(capture), false, false) as w
     where w.name = '!rowrelay_truncate'
  )
  select coalesce(array_agg(l.relation), '{}') from lacking l having bool_and(l.relation <> capture.relation)
$$;
