-- Purpose:    the second half of the advisory lock (1919907698, …) that whoever works on a lane holds. The first half
--             spells 'rowr', so that an application's own advisory locks are never met.
-- Parameters: target, lane (-1: the lane of barriers)
-- Result:     a number that no other lane has
create or replace function rowrelay.lane_lock_key(target integer, lane integer) returns integer
language sql immutable as $$
  select (target << 12) | (lane + 1)
$$;
