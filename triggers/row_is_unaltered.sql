-- Purpose:    whether a trigger function can make images, keys and lanes of the rows of a table with nothing that could
--             fail: as rowrelay.row_is_known(), and the columns that it names have their names and types still
-- Parameters: a table; the types of its columns when the function was made; the names and types of those that it names
-- Result:     false: the row must be captured in a guarded block
create or replace function rowrelay.row_is_unaltered(relation regclass, types oid[], names text[], named_types oid[])
  returns boolean
language plpgsql immutable set search_path = pg_catalog, pg_temp set jit = off as $$
begin
  return rowrelay.row_is_known(relation, types, true)
     and not exists (select from unnest(names, named_types) as n(name, type)
                      where (n.name, n.type) not in (
                              select c.name, c.type from rowrelay.current_columns(
                                       (select r.reltype from pg_class r where r.oid = relation
                                         limit 1)) as c)); -- see rowrelay.sees_rows()
exception when others then
  return false;
end
$$;
