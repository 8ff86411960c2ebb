-- Purpose:    returns SQL for the text of a value by the output function of its type, not by a cast
--             (rowrelay.is_safe_type)
-- Parameters: SQL for the value; its type
-- Result:     an expression of type text; null for null
create or replace function rowrelay.safe_text(expression text, of_type oid) returns text
language plpgsql stable as $$
begin
  return case when rowrelay.is_safe_type(of_type) then expression || '::pg_catalog.text'
              else format('case when %1$s is distinct from null then pg_catalog.concat(%1$s) end', expression) end;
end
$$;
