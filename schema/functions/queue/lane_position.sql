-- Purpose:    returns a lane's position among its target's lanes; see rowrelay.lane_number()
-- Parameters: number of a lane
-- Result:     from 0 up; -1: the lane of barriers
create or replace function rowrelay.lane_position(lane integer) returns integer
language sql immutable as $$
  select (lane & 4095) - 1
$$;
