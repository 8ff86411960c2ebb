-- How many blocks a table has, or the largest of its partitions or children, so that it can be read in ranges of
-- blocks. 0: it cannot, because this server would read the whole table for each range.
--   $1 full name
with recursive member as (
  select to_regclass($1)::oid as relation
  union
  select i.inhrelid from member m join pg_inherits i on i.inhparent = m.relation
)
select case when current_setting('server_version_num')::integer >= 140000
            then coalesce(max(pg_relation_size(m.relation)) / current_setting('block_size')::bigint, 0) else 0 end
  from member m;
