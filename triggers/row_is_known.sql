-- Purpose:    whether a trigger function can still make images of the rows of a table: the table may have new columns
--             that it would leave out, or whose type has a user's cast to json (rowrelay.is_safe_type). It costs a
--             writer nothing: it is declared immutable, so PostgreSQL evaluates it when it plans the expression, and
--             plans again whenever the table named in it is altered.
-- Parameters: a table or composite type; the types of its columns when the function was made; whether the function
--             takes the row unchanged, so that new columns of safe types may be added
-- Result:     false: the slow path must capture the change
create or replace function rowrelay.row_is_known(relation regclass, types oid[], is_plain boolean) returns boolean
language plpgsql immutable set search_path = pg_catalog, pg_temp set jit = off as $$
declare
  row_type constant oid := (select c.reltype from pg_class c where c.oid = relation limit 1); -- see sees_rows()
  is_same  boolean;
begin
  begin
    if not rowrelay.may_name_type(row_type) then
      is_same := types = array(select c.type from rowrelay.catalog_columns(row_type) as c order by c.place);
    else
      execute format(
          'select array[%s]::oid[] = $1 and (select count(*) from json_object_keys(row_to_json(rowrelay_row.*))) = '
          'cardinality($1) '
          'from (select (null::%s).*) as rowrelay_row%s',
          (select string_agg(format('pg_typeof(rowrelay_row.c%s)', n), ', ' order by n)
             from generate_subscripts(types, 1) as n),
          row_type::regtype,
          (select format('(%s)', string_agg('c' || n, ', ' order by n)) from generate_subscripts(types, 1) as n
           having count(*) > 0))
         into is_same using types;
    end if;
    if is_same then
      return true;
    end if;
  exception when others then
    null; -- it has fewer columns now
  end;
  return is_plain
     and not exists (select
                     from rowrelay.current_columns(row_type) as c
                      where not rowrelay.is_safe_type(c.type)
                         -- or values of the new column may not survive as JSON (rowrelay.awkward_columns)
                         or not rowrelay.survives_json(c.type) and c.type <> all (types));
exception when others then
  return false;
end
$$;
