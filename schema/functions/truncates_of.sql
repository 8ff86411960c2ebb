-- Purpose:    which changes are a table's truncates
-- Parameters: relation
-- Result:     the changes and their partitions, the newest first
create or replace function rowrelay.truncates_of(relation regclass) returns table (change_id bigint, day date)
language sql stable as $$
  select f.change_id, f.day
    from rowrelay.changes_of(array(select c.id from rowrelay.capture c where c.relation = truncates_of.relation), null) as f
$$;
