-- Purpose:    tells what enforces that a key is unique
-- Parameters: relation; attribute numbers of the key
-- Result:     table: a unique index on these columns, or on some of them; parts: each partition has its own;
--             deferrable: only a deferrable one, which two rows may violate for a while; none: nothing
create or replace function rowrelay.key_guard(relation regclass, numbers smallint[]) returns text
language plpgsql stable as $$ -- rather than SQL, because its plans are kept
declare
  guard text := rowrelay.index_guard(relation, numbers);
begin
  if guard <> 'table'
     and (select c.relkind = 'p' from pg_class c where c.oid = relation)
     and not exists (
       select from pg_partition_tree(relation) as p
        where p.isleaf
          and rowrelay.index_guard(p.relid, array(
                select own.attnum from unnest(numbers) as u(number)
                  join pg_attribute a on a.attrelid = relation and a.attnum = u.number
                  join pg_attribute own on own.attrelid = p.relid and own.attname = a.attname
                                       and not own.attisdropped)) <> 'table') then
    guard := 'parts';
  end if;
  return guard;
end
$$;
