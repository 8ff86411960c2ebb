-- Purpose:    tells whether equal keys of two types have equal texts, so that a document is found by either
-- Parameters: two types, domains resolved
-- Result:     whether they have
create or replace function rowrelay.is_key_type(one regtype, other regtype) returns boolean
language sql immutable as $$
  select one = other or array[one, other] <@ '{int2,int4,int8,oid}'::regtype[]
      or array[one, other] <@ '{text,varchar,name}'::regtype[]
$$;
