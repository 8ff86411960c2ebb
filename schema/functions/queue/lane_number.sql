-- Purpose:    the number of a target's lane among the lanes of all targets. Queued rows carry it, and whoever decides about
--             the lane's order holds the lock of its row in rowrelay.lane.
-- Parameters: target; lane of that target, from 0 up; -1: the lane of its barriers
-- Result:     the number; rowrelay.lane_target() and rowrelay.lane_position() take it apart again. Negative ones are in a
--             waiting room (triggers/waiting_room.sql, rowrelay.waiting_lane).
create or replace function rowrelay.lane_number(target integer, lane integer) returns integer
language sql immutable as $$
  select (target << 12) | (lane + 1)
$$;
