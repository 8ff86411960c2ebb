-- Purpose:    the size of images from which a change is logged in a guarded block, which costs a subtransaction:
--             PostgreSQL may refuse a row of that size, or lack the memory for it
-- Result:     bytes
create or replace function rowrelay.large_image() returns integer
language sql immutable as $$ select 52428800 $$;
