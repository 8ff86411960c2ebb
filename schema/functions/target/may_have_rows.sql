-- Purpose:    whether a table has rows, as far as that shows without reading it, so that people hear that these are not
--             copied to where it is routed
-- Parameters: relation
-- Result:     false only if the table, its partitions and inheritance children are empty: they have no pages, or had no
--             rows when they were last vacuumed or analyzed and have not grown since. Rows that were all deleted since
--             then count.
create or replace function rowrelay.may_have_rows(relation oid) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  with recursive member(oid) as (
    select relation
    union
    select i.inhrelid from member m join pg_inherits i on i.inhparent = m.oid
  )
  select exists (select from member m join pg_class c on c.oid = m.oid
                  where c.relkind = 'r' and pg_relation_size(c.oid) > 0
                    and (c.reltuples <> 0
                         or c.relpages < pg_relation_size(c.oid) / current_setting('block_size')::integer))
$$;
