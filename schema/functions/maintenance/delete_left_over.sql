-- Purpose:    deletes rows of the queue from which nobody delivers any more: what a writer added, or a process
--             released, while a target was being dropped or the copy of a table was cancelled. A transaction may
--             have begun any time before, so all of the queue is looked through: one look into its index for each
--             target and each copy that has rows there.
create or replace function rowrelay.delete_left_over() returns void
language plpgsql as $$
declare
  dead record;
begin
  for dead in
    with recursive present(first_lane, last_lane) as (
      (select q.lane, rowrelay.last_lane_beside(q.lane) from rowrelay.queue q order by q.lane limit 1)
      union all
      select n.lane, rowrelay.last_lane_beside(n.lane)
        from present p
        cross join lateral (select q.lane from rowrelay.queue q where q.lane > p.last_lane order by q.lane limit 1) as n
    )
    select p.first_lane, p.last_lane
      from present p
     where case when p.first_lane < 0
                then not exists (select from rowrelay.backfill b
                                  where b.state <> 'cancelled'
                                    and p.first_lane between rowrelay.waiting_lane(b.id, -1)
                                                         and rowrelay.waiting_lane(b.id, 1023))
                else not exists (select from rowrelay.target t
                                  where t.id = rowrelay.lane_target(p.first_lane) and t.dropped_at is null) end
  loop
    delete from rowrelay.queue q
     where q.ctid = any (array(select u.ctid from rowrelay.queue u
                                where u.lane between dead.first_lane and dead.last_lane
                                limit 10000 for update skip locked));
  end loop;
end
$$;
