-- Purpose:    makes the lanes of a target that is being added: what is locked by whoever works on one of them
-- Parameters: target
create or replace function rowrelay.add_lanes(target integer) returns void
language sql as $$
  insert into rowrelay.lane (lane)
  select rowrelay.lane_number(t.id, n) from rowrelay.target t, generate_series(-1, t.lanes - 1) as n
   where t.id = add_lanes.target;
$$;
