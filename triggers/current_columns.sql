-- Purpose:    returns the columns that rows of a type have at this moment. The catalogs may not show them to a
--             repeatable read transaction, which nevertheless gets rows with them; an expression on a row always has
--             them.
-- Parameters: a composite type, such as that of a table's rows
-- Result:     position, name and type of each column
create or replace function rowrelay.current_columns(row_type oid) returns table (place integer, name text, type oid)
language plpgsql stable rows 20 as $$
declare
  names text[];
  types oid[];
begin
  if not rowrelay.may_name_type(row_type) then
    return query select c.* from rowrelay.catalog_columns(row_type) as c;
    return;
  end if;
  names := rowrelay.current_names(row_type);
  if names = '{}' then
    return;
  end if;
  -- by position, because a column's name may be that of something else
  execute format('select array[%s]::pg_catalog.oid[] from (select (null::%s).*) as t(%s)',
                 (select string_agg(format('pg_catalog.pg_typeof(t.c%s)', n), ', ' order by n)
                  from generate_subscripts(names, 1) as n),
                 row_type::regtype,
                 (select string_agg('c' || n, ', ' order by n) from generate_subscripts(names, 1) as n))
     into types;
  return query select u.place::integer, u.name, u.type
    from unnest(names, types) with ordinality as u(name, type, place);
end
$$;
