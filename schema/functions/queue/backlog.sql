-- Purpose:    counts the rows queued for a target
-- Parameters: target; where to stop counting
-- Result:     number of queued rows
create or replace function rowrelay.backlog(target rowrelay.target, at_most bigint) returns bigint
language sql volatile as $$
  select count(*)
    from (select
            from (select coalesce((select f.floor from rowrelay.floor f where f.target = backlog.target.id), 0)
                         as up_to) as settled
            cross join generate_series(-1, target.lanes - 1) as n
            -- skips dead rows that VACUUM has not removed yet
            cross join lateral (select from rowrelay.queue q
                                 where q.lane = rowrelay.lane_number(backlog.target.id, n)
                                   and q.change_id > settled.up_to offset 0) as q
           limit at_most) as q
$$;
