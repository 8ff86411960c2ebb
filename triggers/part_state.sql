-- Purpose:    describes the composite types in a table's columns: images split such values (rowrelay.safe_json), so a
--             trigger function has to be replaced when one of them is altered
-- Parameters: relation
-- Result:     '' for most tables
create or replace function rowrelay.part_state(relation regclass) returns text
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  if not exists (select from pg_attribute a where a.attrelid = relation and a.attnum > 0 and not a.attisdropped
                 and a.atttypid >= 16384) then
    return '';
  end if;
  return (
    with recursive part(relation) as (
      select part_state.relation::oid
      union
      select t.typrelid
        from part p
        join pg_attribute a on a.attrelid = p.relation and a.attnum > 0 and not a.attisdropped
       cross join lateral (select rowrelay.base_type(a.atttypid) as type offset 0) as b
        left join pg_type e on e.typarray = b.type
        join pg_type t on t.oid = rowrelay.base_type(coalesce(e.oid, b.type))
       where t.typtype = 'c' and t.oid >= 16384
    )
    select coalesce(string_agg(format('%s %s %s', a.attrelid, a.attname, a.atttypid), ',' order by a.attrelid,
                               a.attnum), '')
      from part p join pg_attribute a on a.attrelid = p.relation and a.attnum > 0 and not a.attisdropped
     where p.relation <> part_state.relation);
end
$$;
