-- Purpose:    returns SQL that calls rowrelay.row_is_known() for a table and for the composite types in its images
-- Parameters: a table or composite type; whether images take its rows unchanged
-- Result:     a condition
create or replace function rowrelay.row_check(relation regclass, is_plain boolean) returns text
language plpgsql stable as $$
begin
  return (
    with recursive part(relation, types) as (
      select r.oid, array(select c.type from rowrelay.current_columns(r.reltype) as c order by c.place)
        from pg_class r where r.oid = row_check.relation
      union
      select t.typrelid, array(select c.type from rowrelay.current_columns(t.oid) as c order by c.place)
        from part p
       cross join lateral unnest(p.types) as u(type)
       cross join lateral (select rowrelay.base_type(u.type) as type offset 0) as b
       cross join lateral (select rowrelay.base_type(coalesce(rowrelay.element_type(b.type),
                                                              b.type)) as type offset 0) as i
        join pg_type t on t.oid = i.type and t.typtype = 'c'
       where not rowrelay.is_safe_type(i.type)
    )
    select string_agg(format('rowrelay.row_is_known(%L, %L, %s)',
                             p.relation, p.types,
                             case when is_plain and p.relation = row_check.relation then 'true' else 'false' end),
                               E'\n       and '
                      order by p.relation)
      from part p);
end
$$;
