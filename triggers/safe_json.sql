-- Purpose:    returns SQL for a value that to_json() and row_to_json() convert as they convert the column, but without
--             any user-defined cast to json (rowrelay.is_safe_type). A value of a user-defined type becomes a string of
--             its text, as PostgreSQL does without such a cast; rows and arrays are split, because they may contain
--             such values. An array of rows with several dimensions becomes a string too.
-- Parameters: SQL for the value; its type; depth of nested arrays
-- Result:     an expression
create or replace function rowrelay.safe_json(expression text, of_type oid, depth integer default 1) returns text
language plpgsql stable as $$
declare
  base    constant oid := rowrelay.base_type(of_type);
  part    constant text := format('i%s', depth);
  type    pg_type;
  element pg_type;
  shown   text;
begin
  if rowrelay.is_safe_type(base) then
    return expression;
  end if;
  select t.* into type from pg_type t where t.oid = base;
  select e.* into element from pg_type e where e.oid = rowrelay.element_type(base);
  if element.oid is not null and rowrelay.is_safe_type(element.oid) then
    return expression; -- an array of a domain
  elsif element.typtype in ('c', 'd') then
    return format('case when pg_catalog.array_ndims(%1$s) operator(pg_catalog.>) 1 then '
                  'pg_catalog.to_json(pg_catalog.concat(%1$s)) '
                  'when %1$s is distinct from null then pg_catalog.array_to_json(array('
                  'select pg_catalog.to_json(%2$s) from pg_catalog.generate_subscripts(%1$s, 1) as %3$s order by '
                  '%3$s)) end',
                  expression, rowrelay.safe_json(format('(%s)[%s]', expression, part), element.oid, depth + 1), part);
  elsif element.typdelim = ',' then
    return format('case when %1$s is distinct from null then pg_catalog.concat(%1$s)::pg_catalog.text[] end',
                  expression);
  elsif type.typtype = 'c' then
    select string_agg(format('%s as %I',
                             rowrelay.safe_json(format('(%s).%I', expression, c.name), c.type, depth), c.name),
                      ', ' order by c.place)
      into shown from rowrelay.current_columns(base) as c;
    return format('case when %s is distinct from null then (select pg_catalog.row_to_json(rowrelay_row.*) from (select '
                  '%s) as rowrelay_row) end',
                  expression, shown);
  end if;
  return rowrelay.safe_text(expression, base);
end
$$;
