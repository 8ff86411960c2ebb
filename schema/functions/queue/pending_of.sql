-- Purpose:    what waits for a target, for view rowrelay.status. A function, because its plan is kept and costs the
--             view nothing: as a part of it, it seemed so costly that the server compiled it (jit), which took seconds.
-- Parameters: target; how many lanes it has
-- Result:     backlog: number of queued changes, counted up to a million, because status is read often and beyond that
--             the number does not matter; captured_at: of the oldest, null if there is none
create or replace function rowrelay.pending_of(target_id integer, lanes integer, out backlog bigint,
                                               out captured_at timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off as $$
declare
  -- skips dead rows that VACUUM has not removed yet
  settled constant bigint := coalesce((select f.floor from rowrelay.floor f where f.target = target_id), 0);
  first   record;
begin
  select count(*) into backlog
    from (select
            from generate_series(-1, lanes - 1) as n
            -- lane by lane: a join could read the whole queue for each target
            cross join lateral (select from rowrelay.queue q
                                 where q.lane = rowrelay.lane_number(target_id, n) and q.change_id > settled
                                offset 0) as q
           limit 1000000) as q;
  if backlog = 0 then
    return;
  end if;
  select q.change_id, q.day into first
    from generate_series(-1, lanes - 1) as n
    cross join lateral (select q.change_id, q.day from rowrelay.queue q
                         where q.lane = rowrelay.lane_number(target_id, n) and q.change_id > settled
                         order by q.change_id limit 1) as q
   order by q.change_id limit 1;
  captured_at := (select h.captured_at from rowrelay.change h where h.id = first.change_id and h.day = first.day);
end
$$;
