-- Purpose:    creates the rows of a target's lanes, which a worker locks while it works on a lane, and removes those
--             beyond its number of lanes: when it is added, and when that number changes, which happens only while
--             nothing is queued
-- Parameters: target
create or replace function rowrelay.add_lanes(target integer) returns void
language sql as $$
  delete from rowrelay.lane l
   using rowrelay.target t
   where t.id = add_lanes.target and l.lane > rowrelay.lane_number(t.id, t.lanes - 1)
     and l.lane <= rowrelay.lane_number(t.id, 1023);
  insert into rowrelay.lane (lane)
  select rowrelay.lane_number(t.id, n) from rowrelay.target t, generate_series(-1, t.lanes - 1) as n
   where t.id = add_lanes.target
  on conflict (lane) do nothing;
$$;
