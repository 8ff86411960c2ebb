-- Purpose:    returns the name of a key's type for SQL; format_type() would return "character", which is char(1)
-- Parameters: a type of schema pg_catalog
-- Result:     such as pg_catalog.int8
create or replace function rowrelay.document_key_type(key_type oid) returns text
language sql stable as $$
  select format('pg_catalog.%I', t.typname) from pg_type t where t.oid = key_type
$$;
