-- Purpose:    returns SQL for two rows called old and new whose type is known only at run time, for the expressions of
--             a trigger function (rowrelay.key_expression and the like)
-- Parameters: rows before and after; null where there is none
-- Result:     items for a FROM clause with $1 as the row before and $2 as the row after; a row of nulls where there is
--             none
create or replace function rowrelay.rows_given(before_row record, after_row record) returns text
language plpgsql stable as $$
declare
  nobody constant text := format('null::%s', rowrelay.row_type(before_row, after_row));
begin
  return format('(select (%s).*) as old, (select (%s).*) as new',
                case when before_row is distinct from null then '$1' else nobody end,
                case when after_row is distinct from null then '$2' else nobody end);
end
$$;
