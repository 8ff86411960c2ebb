-- Purpose:    says whether a text can be the name of a table, with or without its schema
-- Parameters: text
create or replace function rowrelay.is_table_name(text) returns boolean
language plpgsql immutable as $$
begin
  return cardinality(parse_ident($1)) <= 2;
exception when invalid_parameter_value then
  return false;
end
$$;
