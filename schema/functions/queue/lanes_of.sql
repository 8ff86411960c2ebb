-- Purpose:    returns the lanes of a target
-- Parameters: target
-- Result:     their numbers, ascending; the first is the lane of barriers
create or replace function rowrelay.lanes_of(target integer) returns integer[]
language sql stable as $$
  select array_agg(l.lane order by l.lane)
    from rowrelay.lane l
   where l.lane between rowrelay.lane_number(target, -1) and rowrelay.lane_number(target, 1023)
$$;
