-- Purpose:    returns the names of the columns that rows of a type have at this moment; see rowrelay.current_columns()
-- Parameters: a composite type, such as that of a table's rows
-- Result:     names in their order
create or replace function rowrelay.current_names(row_type oid) returns text[]
language plpgsql stable as $$
declare
  names text[];
begin
  if not rowrelay.may_name_type(row_type) then
    return array(select c.name from rowrelay.catalog_columns(row_type) as c order by c.place);
  end if;
  -- All values are null, so no cast to json is called.
  execute format('select array(select k.name from pg_catalog.json_object_keys(pg_catalog.row_to_json(rowrelay_row.*)) '
                 'with ordinality as k(name, place) order by k.place) '
                 'from (select (null::%s).*) as rowrelay_row', row_type::regtype) into names;
  return names;
end
$$;
