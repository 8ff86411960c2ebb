-- Purpose:    returns SQL for two rows called old and new whose type is known only at run time, for the expressions of
--             a trigger function (rowrelay.key_expression and the like)
-- Parameters: rows before and after; null where there is none
-- Result:     items for a FROM clause with $1 as the row before and $2 as the row after; a row of nulls where there is
--             none
create or replace function rowrelay.rows_given(before_row record, after_row record) returns text
language plpgsql stable as $$
declare
  -- a row of nulls gets its type from the other row, because the type's schema may not be ours to use
  has_old constant boolean := before_row is distinct from null;
begin
  return format('(select (%s).*) as old, (select (%s).*) as new',
                case when has_old then '$1' else 'case when false then $2 end' end,
                case when not has_old or after_row is distinct from null then '$2'
                     else 'case when false then $1 end' end);
end
$$;
