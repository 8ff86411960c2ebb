-- Purpose:    whether a table has rows, as far as that shows without reading it, so that people hear that these are not
--             copied to where it is routed
-- Parameters: relation
-- Result:     false only if the table and all its partitions are empty: they have no pages, or had no rows when they
--             were last vacuumed or analyzed and have not grown since. Rows that were all deleted since then count.
create or replace function rowrelay.may_have_rows(relation oid) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  select exists (select from pg_class c
                  where (c.oid = relation or c.oid in (select p.relid from pg_partition_tree(relation) as p))
                    and c.relkind = 'r' and pg_relation_size(c.oid) > 0
                    and (c.reltuples <> 0
                         or c.relpages < pg_relation_size(c.oid) / current_setting('block_size')::integer))
$$;
