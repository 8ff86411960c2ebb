-- Purpose:    whether reading a key may run a user's CHECK, because an array, range or row in it has a domain inside.
--             (For a column of a domain type the base type is used, see rowrelay.plain_type().)
-- Parameters: relation; attribute numbers
create or replace function rowrelay.has_domain_parts(relation regclass, numbers smallint[]) returns boolean
language sql stable set jit = off as $$ -- compiling it takes a second, and it is called for each search
  with recursive part(type) as (
    select p.type
      from pg_attribute a cross join lateral rowrelay.type_parts(a.atttypid, a.attcollation) as p
     where a.attrelid = relation and a.attnum = any (numbers) and not a.attisdropped
    union
    select p.type from part cross join lateral rowrelay.type_parts(part.type, 0) as p
  )
  select exists (select from part join pg_type t on t.oid = part.type and t.typtype = 'd')
$$;
