-- Purpose:    returns SQL for whether a table still has its name, so that a trigger function may look into it by that.
--             The table may be in another schema by now, and another one may have its name: to_regclass() would fail
--             where the schema of that one may not be used. So the name that the table has now is compared, in parts,
--             because quote_all_identifiers may be on. The catalogs' caches have it, whatever the snapshot shows.
-- Parameters: relation
create or replace function rowrelay.name_condition(relation regclass) returns text
language plpgsql stable as $$
begin
  return (
    select format('pg_catalog.parse_ident((pg_catalog.pg_identify_object(1259, %s, 0)).identity) '
                  'operator(pg_catalog.=) %L::pg_catalog.text[]', relation::oid, array[n.nspname, c.relname])
      from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = relation);
end
$$;
