-- Purpose:    whether the caller may use a type by its name: that needs the right to use its schema, which the owner of
--             schema rowrelay may have lost since a table was captured
-- Parameters: type
-- Result:     null: this transaction cannot see the type yet
create or replace function rowrelay.may_name_type(of_type oid) returns boolean
language plpgsql stable as $$
begin
  return (select has_schema_privilege(t.typnamespace, 'usage') from pg_type t where t.oid = of_type);
end
$$;
