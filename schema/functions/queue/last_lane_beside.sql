-- Purpose:    returns the last lane of the target, or of the waiting room, to which a lane belongs; see
--             rowrelay.lane_number() and rowrelay.waiting_lane()
-- Parameters: number of a lane
create or replace function rowrelay.last_lane_beside(lane integer) returns integer
language sql immutable as $$
  select case when lane < 0 then lane | 2047 else lane | 4095 end
$$;
