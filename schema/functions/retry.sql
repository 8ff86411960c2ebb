-- Purpose:    queues refused changes again, at their old place. What waits behind them (on_error=block) comes along.
--             For each lane it waits until the batch in flight is settled.
-- Parameters: target (null: all); change ids (null: all that were refused)
-- Result:     how many changes were queued again
-- Errors:     no such target
create or replace function rowrelay.retry(target text default null, change_ids bigint[] default null) returns bigint
language plpgsql as $$
declare
  only_target integer := case when target is not null then rowrelay.target_id(target) end;
  lane_of     record;
  first_id    bigint;
  moved       bigint;
  total       bigint := 0;
begin
  for lane_of in
    select distinct f.target, f.lane from rowrelay.refusal f
     where (only_target is null or f.target = only_target) and (change_ids is null or f.change_id = any (change_ids))
     order by 1, 2
  loop
    perform pg_advisory_xact_lock(1919907698, lane_of.lane);
    with chosen as (
      select f.change_id, f.capture, f.key from rowrelay.refusal f
       where f.lane = lane_of.lane
         and (change_ids is null or f.change_id = any (change_ids))
    ), moving as (
      delete from rowrelay.refusal f
       where f.lane = lane_of.lane
         and (f.change_id in (select c.change_id from chosen c)
              or f.state = 'blocked'
                 and exists (select from chosen c where c.capture = f.capture and c.key is not distinct from f.key))
      returning f.*
    ), queued as (
      insert into rowrelay.queue (change_id, lane, day, bytes)
      select m.change_id, m.lane, m.day, m.bytes from moving m
      returning change_id
    )
    select min(q.change_id), count(*) into first_id, moved from queued q;
    if moved > 0 then
      perform rowrelay.rewind(lane_of.target, first_id);
      total := total + moved;
    end if;
  end loop;
  return total;
end
$$;
