-- Purpose:    the image of a row whose type is known only now (rowrelay.row_image)
-- Parameters: row
-- Result:     the image; null for null
create or replace function rowrelay.row_as_json(r record) returns json
language plpgsql stable as $$
declare
  row_type oid;
  image    json;
begin
  if r is not distinct from null then
    return null;
  end if;
  execute 'select pg_catalog.pg_typeof($1)' into row_type using r;
  execute 'select ' || rowrelay.row_image(row_type, '$1') into image using r;
  return image;
end
$$;
