-- Purpose:    returns the table that a row type belongs to
-- Parameters: type
-- Errors:     it is not the row type of a table
create or replace function rowrelay.table_of(type regtype) returns regclass
language plpgsql stable as $$
declare
  relation regclass := (select c.oid from pg_type t join pg_class c on c.oid = t.typrelid
                         where t.oid = type and c.relkind in ('r', 'p', 'v', 'm', 'f'));
begin
  if relation is null then
    raise exception 'type % is not the row type of a table', type using errcode = 'wrong_object_type',
      hint = 'Pass null cast to the table, such as null::shop.orders.';
  end if;
  return relation;
end
$$;
