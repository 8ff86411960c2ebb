-- Purpose:    returns SQL for a column of a row, for use with functions and operators of its type; see
--             rowrelay.plain_type()
-- Parameters: name of the row; name and type of the column
-- Result:     an expression
create or replace function rowrelay.plain_value(row_name text, column_name name, of_type oid) returns text
language plpgsql stable as $$
begin
  return format(case when rowrelay.plain_oid(of_type) = of_type then '%s' else '(%s)::%s' end,
                rowrelay.row_value(row_name, column_name), rowrelay.plain_type(of_type, 0));
end
$$;
