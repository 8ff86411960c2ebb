-- Purpose:    the number of a target's lane among the lanes of all targets. Queued rows carry it, and whoever decides about
--             the lane's order holds the lock of its row in rowrelay.lane.
-- Parameters: target; lane of that target, from 0 up; -1: the lane of its barriers
-- Result:     the number; number >> 12 is the target, and of a lane of barriers number & 4095 is 0; negative
--             ones are in a waiting room (triggers/waiting_room.sql)
create or replace function rowrelay.lane_number(target integer, lane integer) returns integer
language sql immutable as $$
  select (target << 12) | (lane + 1)
$$;
