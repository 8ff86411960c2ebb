-- Purpose:    tells of new partitions that may have been truncated before they had triggers for that, because their
--             file is not their first one: a mirror may have rows that are gone
-- Parameters: partitions (rowrelay.new_partitions)
-- Result:     a sentence; null: there is none
create or replace function rowrelay.truncated_partitions(partitions regclass[]) returns text
language sql stable as $$
  select format('%s may have been truncated before it had triggers for that',
                string_agg(c.oid::regclass::text, ', ' order by c.oid))
    from pg_class c
   where c.oid = any (partitions::oid[]) and pg_relation_filenode(c.oid) <> c.oid
  having count(*) > 0
$$;
