-- Purpose:    whether the columns that make the keys and lanes of a table's rows are what they were when its trigger
--             function was made: another type or collation of a column has other hashes, so a row would change its
--             lane, and the barrier between old and new lanes comes with the next function. A caller evaluates it as
--             rowrelay.row_is_known(): when it plans an expression, and again after the table named in it was altered;
--             and it is right even if the transaction cannot see the alteration yet.
-- Parameters: a table; numbers of the columns; their names, types and collations (0: none); rowrelay.column_version()
--             of a column that is not in the key, '' for the others
-- Result:     false: the slow path must capture the change
create or replace function rowrelay.lanes_are_known(relation regclass, numbers smallint[], names text[], types oid[],
                                                    collations oid[], versions text[]) returns boolean
language plpgsql immutable set search_path = pg_catalog, pg_temp set jit = off as $$
declare
  row_type constant oid := (select c.reltype from pg_class c where c.oid = relation limit 1); -- see sees_rows()
  fields   text[];
  is_same  boolean;
begin
  if not rowrelay.columns_are_named(relation, numbers, names)
     or exists (select from unnest(numbers, versions) as u(number, version)
                  join pg_attribute a on a.attrelid = relation and a.attnum = u.number
                                     and rowrelay.column_version(a.atttypmod, a.xmin) <> u.version
                  where u.version <> '') then
    return false;
  end if;
  if not rowrelay.may_name_type(row_type) then
    perform from rowrelay.catalog_columns(row_type); -- an error where the catalogs may be older than the rows
    return (select array_agg(a.atttypid order by u.place) = types and array_agg(a.attcollation order by u.place)
                     = collations
              from unnest(numbers) with ordinality as u(number, place)
              join pg_attribute a on a.attrelid = relation and a.attnum = u.number);
  end if;
  fields := rowrelay.current_names(row_type);
  -- By position, because a column's name may be that of something else. Only values of types with collations can be
  -- asked for one.
  execute (select format('select case when array[%s]::oid[] = $1 then %s end from (select (null::%s).*) as t(%s)',
                         string_agg(format('pg_typeof(t.c%s)', p.n), ', ' order by u.place),
                         coalesce(string_agg(format('pg_collation_for(t.c%s) = %L', p.n, u.of_collation::regcollation),
                                             ' and ') filter (where u.of_collation <> 0), 'true'),
                         row_type::regtype,
                         (select string_agg('c' || n, ', ' order by n) from generate_subscripts(fields, 1) as n))
             from unnest(names, types, collations) with ordinality as u(name, of_type, of_collation, place)
            cross join lateral array_position(fields, u.name) as p(n))
     into is_same using types;
  return is_same is true;
exception when others then
  return false;
end
$$;
