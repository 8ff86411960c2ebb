-- Purpose:    returns what rowrelay.value_text() has to know of a type: the built-in types that it is made of, and how.
--             verify_target.sql asks the same of a mirror's columns, where there are no functions of ours.
-- Parameters: type and type modifier of a column
-- Result:     {name: {base: name} for a domain, {fields: [[field, name], ...]} for a row type, {element: name} for an
--             array of a user's type, {type: as in SQL} for a built-in type, {} for any other}; the column's type has
--             the name ''
create or replace function rowrelay.type_structure(of_type oid, modifier integer) returns json
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  return (
    with recursive part(oid, modifier) as (
      select of_type, modifier
      union
      select n.oid, n.modifier
        from part p
        join pg_type t on t.oid = p.oid and t.oid >= 16384
        cross join lateral (
          select t.typbasetype, t.typtypmod where t.typtype = 'd'
          union all
          select t.typelem, -1 where t.typtype <> 'd' and t.typcategory = 'A'
          union all
          select a.atttypid, a.atttypmod from pg_attribute a
           where t.typtype = 'c' and a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped)
          as n(oid, modifier)
    )
    select json_object_agg(
             case when p.oid = of_type and p.modifier = type_structure.modifier then '' else
               concat(p.oid, ':', p.modifier) end,
             case when p.oid < 16384 then json_build_object('type', format_type(p.oid, p.modifier))
                  when t.typtype = 'd' then json_build_object('base', concat(t.typbasetype, ':', t.typtypmod))
                  when t.typcategory = 'A' then json_build_object('element', concat(t.typelem, ':-1'))
                  when t.typtype = 'c' then json_build_object('fields', (
                    select coalesce(json_agg(json_build_array(a.attname, concat(a.atttypid, ':', a.atttypmod))
                                             order by a.attnum), '[]')
                      from pg_attribute a where a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped))
                  else '{}' end)
      from part p join pg_type t on t.oid = p.oid);
end
$$;
