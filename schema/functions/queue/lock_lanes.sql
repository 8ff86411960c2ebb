-- Purpose:    waits until nothing of some lanes is in flight, and keeps everybody else from deciding about their order until
--             the transaction ends. Whoever puts something into a lane before what is queued there already, or takes
--             something out of it, calls this first, and looks at the queue in a statement that begins afterwards.
--             To be called before anything else is locked: a batch that is about to halt its target must not wait for us
--             while we wait for its lane.
--             A claim in a transaction holds the same lock to its end. A lease outlives its transaction, so its end is
--             waited for with the lock in hand: who holds it settles without that lock, and nobody takes a new one.
-- Parameters: numbers of lanes
-- Errors:     the transaction is not READ COMMITTED: it would look at the queue as it was before
create or replace function rowrelay.lock_lanes(lanes integer[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  began_at  constant timestamptz := clock_timestamp();
  lease     record;
  has_told  boolean := false;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'this can be done in a READ COMMITTED transaction only' using errcode = 'object_not_in_prerequisite_state',
      detail = 'It has to see what others commit meanwhile.';
  end if;
  perform from rowrelay.lane l where l.lane = any (lock_lanes.lanes) order by l.lane for update;
  loop
    -- A clock that was ahead when the lease was taken holds nobody up for longer than a lease lasts.
    select t.name, least(e.lease_until, began_at + e.lasts) as until into lease
      from rowrelay.lease e left join rowrelay.target t on t.id = rowrelay.lane_target(e.lane)
     where e.lane = any (lock_lanes.lanes) and least(e.lease_until, began_at + e.lasts) > clock_timestamp()
     order by 2 desc limit 1;
    exit when not found;
    if not has_told and clock_timestamp() > began_at + interval '1 s' then
      raise notice 'waiting for a lease of target "%", until % at the latest', lease.name, lease.until;
      has_told := true;
    end if;
    perform pg_sleep(0.02);
  end loop;
  -- Who comes back after his lease has ended is too late.
  update rowrelay.lease e set process_id = gen_random_uuid() where e.lane = any (lock_lanes.lanes) and e.lease_until > '-infinity';
end
$$;
