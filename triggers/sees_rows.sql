-- Purpose:    whether a trigger function may look into a table, and sees all rows there: the schema's owner may name it
--             and select from it, and no policy hides rows. It needs none of that to capture ordinary rows.
-- Parameters: a table
create or replace function rowrelay.sees_rows(relation oid) returns boolean
language plpgsql as $$
begin
  return coalesce(pg_catalog.has_table_privilege(relation, 'select'), false)
     and coalesce(pg_catalog.has_schema_privilege(
                    -- two versions, where this transaction and, since it began, another one have truncated the table
                    (select c.relnamespace from pg_catalog.pg_class c
                      where c.oid operator(pg_catalog.=) sees_rows.relation limit 1), 'usage'), false)
     and not pg_catalog.row_security_active(relation);
end
$$;
