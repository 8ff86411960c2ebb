-- Purpose:    whether a row image has a value in one of some columns
-- Parameters: image; names of columns
create or replace function rowrelay.has_value(image json, columns text[]) returns boolean
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select coalesce(json_typeof(image) = 'object'
                  and exists (select from unnest(columns) as c where json_typeof(image -> c) <> 'null'), false)
$$;
