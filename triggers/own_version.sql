-- Purpose:    returns SQL that says whether this transaction has made the row "old" itself. What made it may not have
--             been captured yet, and may never be: see rowrelay.nesting_statements()
-- Parameters: is_apart: as for rowrelay.trigger_body()
-- Result:     a condition
create or replace function rowrelay.own_version(is_apart boolean) returns text
language sql immutable as $$
  -- A transaction's ids are not smaller than its first one; others may be larger too, which does no harm.
  select '(pg_catalog.int8mi(' || rowrelay.system_column('old', 'xmin', is_apart)
         || '::pg_catalog.text::pg_catalog.int8,'
         ' pg_catalog.pg_current_xact_id()::pg_catalog.text::pg_catalog.int8)'
         ' operator(pg_catalog.&) 4294967295) operator(pg_catalog.<) 2147483648'
$$;
