-- Purpose:    the type of a row that is known only now
-- Parameters: row before, row after; null where there is none
-- Result:     of the one after, if there is one; null when there is none
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
