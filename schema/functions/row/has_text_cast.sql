-- Purpose:    whether reading a key from its text would call a cast of its type's owner, with the rights of who reads.
--             A function in C can only be a superuser's. A key of several columns is read from JSON, without casts.
-- Parameters: relation; attribute numbers
create or replace function rowrelay.has_text_cast(relation regclass, numbers smallint[]) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  select exists (select from pg_attribute a
                   join pg_cast c on c.castsource = 'text'::regtype and c.casttarget = rowrelay.plain_oid(a.atttypid)
                   join pg_proc p on p.oid = c.castfunc
                   join pg_language l on l.oid = p.prolang and l.lanname not in ('internal', 'c')
                  where a.attrelid = relation and a.attnum = any (numbers) and not a.attisdropped
                    and cardinality(numbers) = 1)
$$;
