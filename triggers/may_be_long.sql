-- Purpose:    whether the size of a value does not bound that of its text: numbers in jsonb, an array or a multirange
--             may have 131,072 digits, and nulls take a bit
-- Parameters: the type of a column
create or replace function rowrelay.may_be_long(of_type oid) returns boolean
language sql stable as $$
  select t.typelem <> 0 and t.typlen = -1 or t.typtype = 'm' or t.oid = 'jsonb'::regtype
    from pg_type t where t.oid = rowrelay.base_type(of_type)
$$;
