-- Purpose:    lists the truncates of a table
-- Parameters: relation
-- Result:     the changes and their partitions, the newest first, with those that were dropped with their day
create or replace function rowrelay.truncates_of(relation regclass) returns table (change_id bigint, day date)
language sql stable as $$
  select t.change_id, t.day
    from rowrelay.readable_truncation t
   where t.capture = any (array(select c.id from rowrelay.capture c where c.relation = truncates_of.relation))
   order by t.change_id desc
$$;
