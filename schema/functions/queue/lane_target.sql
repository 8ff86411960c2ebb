-- Purpose:    returns the target of a lane; see rowrelay.lane_number()
-- Parameters: number of a lane, not one of a waiting room
create or replace function rowrelay.lane_target(lane integer) returns integer
language sql immutable as $$
  select lane >> 12
$$;
