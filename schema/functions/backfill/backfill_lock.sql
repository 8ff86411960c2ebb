-- Purpose:    the class of the advisory locks of backfills: whoever is at backfill ID, its driver, holds (this, ID) in
--             his session
-- Result:     'rowb' in ASCII
create or replace function rowrelay.backfill_lock() returns integer
language sql immutable as $$
  select x'726f7762'::integer
$$;
