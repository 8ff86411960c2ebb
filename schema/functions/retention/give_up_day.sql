-- Purpose:    discards all undelivered changes of a day: removes them from the queue and from the refused changes
-- Parameters: the day
-- Errors:     lock_not_available: some of them are being delivered
create or replace function rowrelay.give_up_day(day rowrelay.day) returns void
language plpgsql as $$
declare
  lanes integer[];
begin
  lanes := array(select rowrelay.lane_number(t.id, n)
                   from rowrelay.target t cross join lateral generate_series(-1, t.lanes - 1) as n
                 union all
                 select rowrelay.waiting_lane(b.id, n)
                   from rowrelay.backfill b join rowrelay.target t on t.id = b.target
                  cross join lateral generate_series(-1, t.lanes - 1) as n);
  if exists (select from rowrelay.lease l
              where l.lane = any (lanes) and l.lease_until > clock_timestamp()
                and exists (select from rowrelay.queue q
                             where q.lane = l.lane and q.change_id between day.first_id and day.last_id
                               and q.day = give_up_day.day.day)) then
    raise exception 'changes of day % are being delivered', day.day using errcode = 'lock_not_available';
  end if;
  delete from rowrelay.queue q
   where q.lane = any (lanes) and q.change_id between day.first_id and day.last_id and q.day = give_up_day.day.day;
  delete from rowrelay.refusal f
   where f.change_id between day.first_id and day.last_id and f.day = give_up_day.day.day;
end
$$;
