-- Purpose:    queues refused changes again at their old place in the order, with the changes that wait behind them
--             (on_error=block). Waits until batches in flight in their lanes, and barriers of their targets, are
--             settled. Changes that wait because their target cannot take their table are tried at once. Receipts say
--             who retried refused ones.
-- Parameters: target (null: all); change ids (null: all refused changes)
-- Result:     number of changes that were queued again or will be
-- Errors:     no such target
create or replace function rowrelay.retry(target text default null, change_ids bigint[] default null) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  locked      integer[];
  lanes       integer[];
  lane_number integer;
  first_id    bigint;
  moved       bigint;
  total       bigint := 0;
begin
  perform rowrelay.lock_configuration();
  locked := rowrelay.lock_refused_lanes(target, rowrelay.with_blocked(change_ids));
  -- A batch that was in flight may have set more aside behind them.
  change_ids := rowrelay.with_blocked(change_ids);
  lanes := array(select distinct f.lane from rowrelay.refusal f
                  where f.lane = any (locked) and f.state <> 'waiting'
                    and (retry.change_ids is null or f.change_id = any (retry.change_ids)) order by 1);
  if target is not null then
    perform rowrelay.target_id(target);
  end if;

  total := rowrelay.retry_overtaken(lanes, change_ids);
  foreach lane_number in array lanes loop
    with old as materialized (
      select g.target, g.capture, rowrelay.overtaken_up_to(g.target, g.capture, false) as up_to,
             rowrelay.overtaken_up_to(g.target, g.capture, true) as truncates_up_to
        from (select distinct r.target, r.capture from rowrelay.refusal r
               where r.lane = lane_number and r.state <> 'waiting') as g
    ), chosen as (
      select f.change_id, f.capture, f.row_hash from rowrelay.refusal f
        join old o on o.target = f.target and o.capture = f.capture
       where f.lane = lane_number and f.state <> 'waiting'
         and (change_ids is null or f.change_id = any (change_ids))
         and f.change_id > case when f.row_hash = 0 and f.key is null then o.truncates_up_to else o.up_to end
    ), moving as (
      delete from rowrelay.refusal f
       where f.lane = lane_number and f.state <> 'waiting'
         and (f.change_id in (select c.change_id from chosen c)
              or f.state = 'blocked'
                 and exists (select from chosen c
                              where c.capture = f.capture
                                and (c.row_hash = f.row_hash or 0 in (c.row_hash, f.row_hash))))
      returning f.*
    ), noted as (
      insert into rowrelay.receipt (token, part, target, outcome, attempts, actor, settled_at, change_ids, first_id,
                                    last_id)
      select nextval('rowrelay.claim_token'), 0, m.target, 'retried', 0, rowrelay.actor(), clock_timestamp(),
             array_agg(m.change_id order by m.change_id), min(m.change_id), max(m.change_id)
        from moving m where m.state = 'error' group by m.target
    ), queued as (
      insert into rowrelay.queue (change_id, lane, day, bytes)
      select m.change_id, rowrelay.lane_of_return(m), m.day, m.bytes from moving m
      returning change_id
    )
    select min(q.change_id), count(*) into first_id, moved from queued q;
    if moved > 0 then
      perform rowrelay.rewind(rowrelay.lane_target(lane_number), first_id);
      total := total + moved;
    end if;
  end loop;
  return total + rowrelay.hurry_held(target, change_ids);
end
$$;
