-- Purpose:    returns SQL for a column of a row in a trigger function
-- Parameters: name of the row; either: the new one, or the old one where there is no new one, which is only right for
--             a column that is never null; name of the column
-- Result:     an expression
create or replace function rowrelay.row_value(row_name text, column_name name) returns text
language plpgsql immutable as $$
begin
  return case when row_name = 'either' then format('coalesce(new.%1$I, old.%1$I)', column_name)
              else format('%I.%I', row_name, column_name) end;
end
$$;
