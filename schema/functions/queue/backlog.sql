-- Purpose:    counts the rows queued for a target
-- Parameters: target; where to stop counting
-- Result:     number of queued rows
create or replace function rowrelay.backlog(target rowrelay.target, at_most bigint) returns bigint
language sql volatile as $$
  select count(*)
    from (select from generate_series(-1, target.lanes - 1) as n
            join rowrelay.queue q on q.lane = rowrelay.lane_number(target.id, n)
           -- skips dead rows that VACUUM has not removed yet
           where q.change_id > coalesce((select f.floor from rowrelay.floor f where f.target = backlog.target.id), 0)
           limit at_most) as q
$$;
