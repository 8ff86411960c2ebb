-- Purpose:    whether a value may have so much text that a row of such values has no image: more than a gigabyte. A
--             numeric has 150 kB at most, and a row has room for some 400 of them.
-- Parameters: the type of a column
create or replace function rowrelay.may_be_large(of_type oid) returns boolean
language sql stable as $$
  select t.typlen = -1 and t.oid not in ('numeric'::regtype, 'inet'::regtype, 'cidr'::regtype)
    from pg_type t where t.oid = rowrelay.base_type(of_type)
$$;
