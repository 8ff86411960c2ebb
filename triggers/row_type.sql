-- Purpose:    returns the type of a row at run time
-- Parameters: row before, row after; null where there is none
-- Result:     the type of the row after, else of the row before; null when there is neither
create or replace function rowrelay.row_type(before_row record, after_row record) returns regtype
language plpgsql stable as $$
declare
  type regtype;
begin
  if after_row is distinct from null then
    execute 'select pg_catalog.pg_typeof($1)' into type using after_row;
  elsif before_row is distinct from null then
    execute 'select pg_catalog.pg_typeof($1)' into type using before_row;
  end if;
  return type;
end
$$;
