-- Purpose:    returns the types that values of a type are made of in the end: what a domain is of, the elements of an
--             array, the attributes of a row type. coarse_columns.sql asks the same of a mirror's columns, where there
--             are no functions of ours.
-- Parameters: type and type modifier of a column
-- Result:     [{"path": '' or "[]" for an element, ".name" for an attribute, and so on; "type": as in SQL; "own":
--             whether it is not PostgreSQL's own}]
create or replace function rowrelay.type_leaves(of_type oid, modifier integer) returns json
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  return (
    with recursive part(path, oid, modifier) as (
      select '' collate "C", of_type, type_leaves.modifier
      union all
      select p.path || n.step, n.oid, n.modifier
        from part p
        join pg_type t on t.oid = p.oid
       cross join lateral (
         select '', t.typbasetype, t.typtypmod where t.typtype = 'd'
         union all
         select '[]', t.typelem, p.modifier where t.typtype <> 'd' and t.typcategory = 'A'
         union all
         select '.' || quote_ident(a.attname), a.atttypid, a.atttypmod from pg_attribute a
          where t.typtype = 'c' and a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped)
         as n(step, oid, modifier)
    )
    select json_agg(json_build_object('path', p.path, 'type', format_type(p.oid, p.modifier), 'own', p.oid >= 16384))
      from part p
      join pg_type t on t.oid = p.oid
     where t.typtype not in ('d', 'c') and t.typcategory <> 'A');
end
$$;
