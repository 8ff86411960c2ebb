-- Purpose:    the size of a stored row below which no image of it can be too large for PostgreSQL: values may be
--             compressed to a 255th of their size and grow by six in JSON, and an image may have a gigabyte
-- Result:     bytes
create or replace function rowrelay.small_row() returns integer
language sql immutable as $$ select 100000 $$;
