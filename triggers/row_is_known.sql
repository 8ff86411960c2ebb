-- Purpose:    whether a trigger function still knows how to make images of the rows of a table: since it was made the table
--             may have got columns which it would leave out, or whose type has a cast to json that somebody made to have
--             it run (rowrelay.is_safe_type). It costs a writer nothing: it is called immutable, so PostgreSQL computes it
--             when it plans the expression, and plans that anew whenever the table that is named in it is altered.
-- Parameters: a table or a composite type; the types of its columns when the function was made; whether the function takes
--             the row as it is, so that further columns may come if they are of a type that nobody has code in
-- Result:     false: the change must be captured the slow way
create or replace function rowrelay.row_is_known(relation regclass, types oid[], is_plain boolean) returns boolean
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  is_same boolean;
begin
  begin
    execute format('select array[%s]::oid[] = $1 and (select count(*) from json_object_keys(row_to_json(rowrelay_row.*))) = cardinality($1) '
                   'from (select (null::%s).*) as rowrelay_row%s',
                   (select string_agg(format('pg_typeof(rowrelay_row.c%s)', n), ', ' order by n) from generate_subscripts(types, 1) as n),
                   (select c.reltype::regtype from pg_class c where c.oid = relation),
                   (select format('(%s)', string_agg('c' || n, ', ' order by n)) from generate_subscripts(types, 1) as n
                    having count(*) > 0))
       into is_same using types;
    if is_same then
      return true;
    end if;
  exception when others then
    null; -- it has fewer columns by now
  end;
  return is_plain
     and not exists (select from rowrelay.current_columns((select r.reltype from pg_class r where r.oid = relation)) as c
                      where not rowrelay.is_safe_type(c.type)
                         -- nor is there anything about the values to be looked at (rowrelay.awkward_columns)
                         or not rowrelay.survives_json(c.type) and c.type <> all (types));
exception when others then
  return false;
end
$$;
