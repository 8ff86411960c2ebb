-- Purpose:    returns a type for reading values that were already in a table, so that no CHECK of a domain runs again:
--             it is its owner's code and would run with the reader's rights
-- Parameters: type of a column
-- Result:     the type; for a domain or an array of one the base type; text for an array or row type with domains
--             deeper in it
create or replace function rowrelay.unchecked_type(of_type oid) returns text
language plpgsql stable as $$
declare
  base constant oid := rowrelay.base_type(of_type);
  element       oid := rowrelay.base_type(rowrelay.element_type(base));
begin
  if exists (with recursive part(type) as (
               select coalesce(element, base)
               union
               select coalesce(rowrelay.base_type(e.oid), rowrelay.base_type(a.atttypid))
                 from part p
                 join pg_type t on t.oid = p.type and t.typtype = 'c'
                 join pg_attribute a on a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped
                 left join pg_type e on e.typarray = a.atttypid
             )
             select from part p
               join pg_type t on t.oid = p.type and t.typtype = 'c'
               join pg_attribute a on a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped
               left join pg_type e on e.typarray = a.atttypid
               join pg_type d on d.oid = coalesce(e.oid, a.atttypid) and d.typtype = 'd') then
    return 'pg_catalog.text';
  end if;
  return (select format('%I.%I', n.nspname, t.typname)
            from pg_type t join pg_namespace n on n.oid = t.typnamespace
           where t.oid = coalesce((select e.typarray from pg_type e where e.oid = element), base));
end
$$;
