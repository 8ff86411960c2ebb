-- About how many rows a table has, with its partitions and children, by their last statistics: $1 oid. 0: unknown.
with recursive part as (
  select $1::text::oid as oid
   union
  select i.inhrelid from pg_catalog.pg_inherits i join part p on p.oid = i.inhparent
)
select coalesce(sum(greatest(c.reltuples, 0)), 0)::bigint
  from part p join pg_catalog.pg_class c on c.oid = p.oid and c.relkind <> 'p';
