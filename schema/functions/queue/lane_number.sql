-- Purpose:    returns the number of a target's lane among the lanes of all targets. Queued rows carry it; a session
--             that changes the lane's order holds the lock of its row in rowrelay.lane.
-- Parameters: target; lane of that target, from 0 up; -1: the lane of its barriers
-- Result:     the number; see rowrelay.lane_target() and rowrelay.lane_position() for its parts. Negative numbers are
--             lanes of a waiting room (triggers/waiting_room.sql, rowrelay.waiting_lane).
create or replace function rowrelay.lane_number(target integer, lane integer) returns integer
language sql immutable as $$
  select (target << 12) | (lane + 1)
$$;
