-- Purpose:    cancels copying a table to a target as a whole, because it is no longer routed there. Changes captured
--             meanwhile are not delivered. The caller replaces the trigger function.
-- Parameters: capture; target
create or replace function rowrelay.copy_forget(capture_id integer, target_id integer) returns void
language plpgsql as $$
declare
  room integer := rowrelay.waiting_room(capture_id, target_id);
begin
  update rowrelay.backfill b
     set state = 'cancelled', snapshot = null, finished_at = clock_timestamp(),
         note = 'the table is no longer routed to the target'
   where b.capture = capture_id and b.target = target_id and b.state in ('copying', 'joining');
  if room = 0 then
    return;
  end if;
  execute format('drop function rowrelay.%I()', format('copies_%s_%s', capture_id, target_id));
  -- rowrelay.maintain() later removes what a writer still adds
  delete from rowrelay.queue q
   where q.lane between rowrelay.lane_number(target_id, -1) + room and rowrelay.lane_number(target_id, 1023) + room;
end
$$;
