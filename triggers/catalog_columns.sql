-- Purpose:    returns the columns that the catalogs show of a type that may not be named (rowrelay.may_name_type), as
--             rowrelay.current_columns() does of others
-- Parameters: a composite type, such as that of a table's rows
-- Errors:     insufficient_privilege: in a transaction that may see older catalogs than its rows are
create or replace function rowrelay.catalog_columns(row_type oid) returns table (place integer, name text, type oid)
language plpgsql stable as $$
begin
  if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
    raise insufficient_privilege
      using message = format('role %s, which owns schema rowrelay, may not use schema %s', current_user,
                             (select t.typnamespace::regnamespace from pg_type t where t.oid = row_type));
  end if;
  return query
    select (row_number() over (order by a.attnum))::integer, a.attname::text, a.atttypid
      from pg_type t join pg_attribute a on a.attrelid = t.typrelid
     where t.oid = row_type and a.attnum > 0 and not a.attisdropped;
end
$$;
