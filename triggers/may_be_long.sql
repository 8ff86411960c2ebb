-- Purpose:    whether the size of a value does not bound that of its text: numbers in jsonb, jsonpath, an array or a
--             multirange may have 131,072 digits, and nulls take a bit. Or it may have no text at all: before version
--             15 PostgreSQL stores intervals that it cannot write.
-- Parameters: the type of a column
create or replace function rowrelay.may_be_long(of_type oid) returns boolean
language sql stable as $$
  select t.typelem <> 0 and t.typlen = -1 or t.typtype = 'm' or t.oid in ('jsonb'::regtype, 'jsonpath'::regtype)
         or t.oid = 'interval'::regtype and current_setting('server_version_num')::integer < 150000
    from pg_type t where t.oid = rowrelay.base_type(of_type)
$$;
