-- Purpose:    returns the types of a value's parts: an array's elements, a range's bounds, a row's columns
-- Parameters: type (a domain counts as its base type); collation of the column
-- Result:     types with their collations; none for a type that has no parts
create or replace function rowrelay.type_parts(of_type oid, of_collation oid) returns table (type oid, collation oid)
language plpgsql stable rows 5 as $$ -- rather than SQL, because its plans are kept
declare
  base constant oid := rowrelay.plain_oid(of_type);
begin
  return query
    select e.type, of_collation from rowrelay.element_type(base) as e(type) where e.type is not null
    union all
    select r.rngsubtype, r.rngcollation from pg_range r
     where r.rngtypid = base or to_jsonb(r) ->> 'rngmultitypid' = base::text -- PostgreSQL 14 has multiranges
    union all
    select a.atttypid, a.attcollation from pg_type t join pg_attribute a on a.attrelid = t.typrelid
     where t.oid = base and t.typtype = 'c' and a.attnum > 0 and not a.attisdropped;
end
$$;
