-- Purpose:    the lane in which a refused change is queued again. If rows of its table have changed lanes since, newer
--             changes of its row are in another one: then it is the barrier lane, whose order counts for all.
-- Parameters: refused change
create or replace function rowrelay.lane_of_return(refused rowrelay.refusal) returns integer
language sql stable as $$
  select case when c.lanes_since > refused.change_id and t.lanes > 1 then rowrelay.lane_number(t.id, -1)
              else refused.lane end
    from rowrelay.capture c, rowrelay.target t where c.id = refused.capture and t.id = refused.target
$$;
