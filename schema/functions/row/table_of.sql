-- Purpose:    the table that a row type is of
-- Parameters: type
-- Errors:     it is of no table
create or replace function rowrelay.table_of(type regtype) returns regclass
language plpgsql stable as $$
declare
  relation regclass := (select c.oid from pg_type t join pg_class c on c.oid = t.typrelid
                         where t.oid = type and c.relkind in ('r', 'p', 'v', 'm', 'f'));
begin
  if relation is null then
    raise exception 'type % is not that of a table''s rows', type using errcode = 'wrong_object_type',
      hint = 'Give null of the table''s type: select * from rowrelay.as_of(null::shop.orders, now());';
  end if;
  return relation;
end
$$;
