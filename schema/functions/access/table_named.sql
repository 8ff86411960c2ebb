-- Purpose:    finds the table, or other relation, that a user names
-- Parameters: name, or the relation's oid; path: where it is looked up without a schema
-- Result:     null: there is none
create or replace function rowrelay.table_named(name text, path text default rowrelay.names_path()) returns regclass
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  perform pg_catalog.set_config('search_path', path, true);
  return pg_catalog.to_regclass(name);
end
$$;
