-- Purpose:    returns partitions and inheritance children that came after their table was captured. Partitions have row
--             triggers, which PostgreSQL makes at once, and none for TRUNCATE; children have none. Before version 16
--             foreign tables never have those for TRUNCATE.
-- Parameters: capture
create or replace function rowrelay.new_parts(capture rowrelay.capture) returns regclass[]
language sql stable as $$
  with lacking(relation) as (
    select distinct w.relation
      from rowrelay.triggers_to_create(capture, rowrelay.captured_tables(capture), false, false) as w
     where w.name = '!rowrelay_truncate'
        or exists (select from pg_foreign_table f where f.ftrelid = w.relation)
           and not exists (select from rowrelay.triggers_on(capture, array[w.relation]))
  )
  select coalesce(array_agg(l.relation), '{}') from lacking l having bool_and(l.relation <> capture.relation)
$$;
