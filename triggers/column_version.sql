-- Purpose:    tells versions of a column's values apart: ALTER COLUMN TYPE writes other values into all rows, rounded
--             or by its USING, and fires no trigger. It always writes the column's row in pg_attribute, also where the
--             type stays; TRUNCATE and VACUUM do not.
-- Parameters: type's length or scale, and transaction, as in pg_attribute
create or replace function rowrelay.column_version(typmod integer, written_by xid) returns text
language sql stable as $$
  select format('%s at %s', typmod, written_by)
$$;
