-- Purpose:    returns a type for reading values that were already in a table, so that no CHECK of a domain runs again:
--             it is its owner's code and would run with the reader's rights
-- Parameters: type of a column
-- Result:     the type; for a domain or an array of one the base type; text for a type with domains deeper in it
create or replace function rowrelay.unchecked_type(of_type oid) returns text
language plpgsql stable as $$
begin
  return case when rowrelay.has_inner_domain(of_type) then 'pg_catalog.text' else rowrelay.plain_type(of_type, 0) end;
end
$$;
