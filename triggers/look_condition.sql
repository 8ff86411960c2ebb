-- Purpose:    returns SQL for whether a trigger function may look into its table, and sees all rows there, where the
--             table has its name (rowrelay.name_condition). rowrelay.sees_rows() tells the same, which costs a query.
-- Parameters: relation
create or replace function rowrelay.look_condition(relation regclass) returns text
language plpgsql stable as $$
begin
  return (
    select format('pg_catalog.has_schema_privilege(%1$L, ''usage'') and '
                  'pg_catalog.has_table_privilege(%2$s::pg_catalog.oid, ''select'') and '
                  'not pg_catalog.row_security_active(%2$s::pg_catalog.oid)', n.nspname, relation::oid)
      from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = relation);
end
$$;
