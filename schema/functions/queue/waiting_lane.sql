-- Purpose:    returns the number of a lane in the waiting room of a backfill, for changes queued while its table is
--             copied as a whole
-- Parameters: id of the backfill; lane of the target, from 0 up; -1: the lane of its barriers
-- Result:     a negative number, so that no process delivers from it
create or replace function rowrelay.waiting_lane(backfill integer, lane integer) returns integer
language sql immutable as $$
  select rowrelay.lane_number(0, lane) - 2048 * (backfill + 1)
$$;
