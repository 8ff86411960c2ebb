-- The shop's tables that have a key.
select i.indrelid::regclass
  from pg_index i join pg_class c on c.oid = i.indrelid
 where c.relnamespace = 'shop'::regnamespace and i.indisprimary and not c.relispartition
 order by 1
