-- Purpose:    returns SQL for whether a row is so small that no image of it can be too large for PostgreSQL: stored
--             values may be compressed to a 255th of their size and grow by six in JSON, and an image may have a
--             gigabyte. Values are looked at one by one: the row itself may be too large to be passed to a function.
-- Parameters: relation; name of the row; one that is null counts as small
-- Result:     a condition; null for a table all of whose rows are small
create or replace function rowrelay.small_row(relation regclass, row_name text) returns text
language plpgsql stable as $$
begin
  return (
    select format('coalesce(greatest(%s), 0) operator(pg_catalog.<) %s',
                  string_agg(format('pg_catalog.pg_column_size(%s.%I)', row_name, a.attname), ', ' order by a.attnum),
                  least(100000, 500000 / count(*)))
      from pg_attribute a
     where a.attrelid = relation and a.attnum > 0 and not a.attisdropped and rowrelay.may_be_large(a.atttypid)
    having count(*) > 0);
end
$$;
