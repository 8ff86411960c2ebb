-- Purpose:    tells of new partitions and children that may have been written to while nothing captured that. A
--             partition that was attached may have come with rows. One whose file is not its first one may have been
--             truncated: a mirror may have rows that are gone. A child whose file is not empty has, or had, rows; of a
--             foreign one nothing is known.
-- Parameters: partitions and children (rowrelay.new_parts)
-- Result:     sentences; null: there are none
create or replace function rowrelay.unseen_parts(parts regclass[]) returns text
language sql stable as $$
  select string_agg(case when k.is_attached
                         then format('what partition %s had before it was attached is not in the log', c.oid::regclass)
                         when c.relispartition
                         then format('partition %s may have been truncated before it had triggers for that',
                                     c.oid::regclass)
                         else format('what was written to child %s before it had triggers is not in the log',
                                     c.oid::regclass) end, '; ' order by c.oid)
    from unnest(parts) as p(relation)
    join pg_class c on c.oid = p.relation
   -- of these alone: the size of another table is not known while somebody has locked it
   cross join lateral (
     select c.relispartition and c.relkind = 'r' and pg_relation_size(p.relation) > 0
            and exists (select from pg_partition_ancestors(p.relation) as u(relid)
                         where u.relid = any (parts) and rowrelay.was_attached(u.relid)) as is_attached) as k
   where k.is_attached
      or case when c.relispartition then pg_relation_filenode(p.relation) <> c.oid
              when c.relkind = 'f' then true
              else pg_relation_size(p.relation) > 0 end
$$;
