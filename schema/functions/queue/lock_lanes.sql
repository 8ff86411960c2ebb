-- Purpose:    waits until nothing in some lanes is in flight, and keeps other sessions from claiming or reordering them
--             until the transaction ends. Call it before queueing a change ahead of others or removing one from the
--             queue, and read the queue in a later statement. Call it before taking any other lock: a batch that is
--             about to halt its target would wait for us while we wait for its lane. A claim in a transaction holds the
--             same lock to its end. A lease outlives its transaction, so this waits for its end while it holds the
--             lock: the holder settles without that lock, and nobody can take a new lease.
-- Parameters: numbers of lanes
-- Errors:     the transaction is not READ COMMITTED: it would see the queue as it was before; lock_not_available, if
--             the caller has set lock_timeout
create or replace function rowrelay.lock_lanes(lanes integer[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  began_at  constant timestamptz := clock_timestamp();
  patience  constant text := current_setting('lock_timeout');
  lease     record;
  has_told  boolean := false;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'the queue can only be changed in a READ COMMITTED transaction'
      using errcode = 'object_not_in_prerequisite_state',
      detail = 'It has to see what others commit meanwhile.';
  end if;
  begin
    perform set_config('lock_timeout', '1s', true);
    perform from rowrelay.lane l where l.lane = any (lock_lanes.lanes) order by l.lane for update;
    perform set_config('lock_timeout', patience, true);
  exception when lock_not_available then
    raise warning 'waiting for a batch that is in flight' using errcode = 'lock_not_available';
    has_told := true;
    perform set_config('lock_timeout', patience, true);
    begin
      perform from rowrelay.lane l where l.lane = any (lock_lanes.lanes) order by l.lane for update;
    exception when lock_not_available then
      raise exception 'a batch that is in flight did not end within %', patience
        using errcode = 'lock_not_available', hint = 'Nothing was changed. Try again later.';
    end;
  end;
  loop
    -- Wait no longer than a lease lasts, even if the clock was ahead when it was taken.
    select t.name, least(e.lease_until, began_at + e.lasts) as until into lease
      from rowrelay.lease e left join rowrelay.target t on t.id = rowrelay.lane_target(e.lane)
     where e.lane = any (lock_lanes.lanes) and least(e.lease_until, began_at + e.lasts) > clock_timestamp()
     order by 2 desc limit 1;
    exit when not found;
    if not has_told and clock_timestamp() > began_at + interval '1 s' then
      raise warning 'waiting for a lease of target "%", until % at the latest', lease.name, lease.until
        using errcode = 'lock_not_available';
      has_told := true;
    end if;
    perform pg_sleep(0.02);
  end loop;
  -- A process that returns after its lease has ended must not settle.
  update rowrelay.lease e set process_id = gen_random_uuid() where e.lane = any (lock_lanes.lanes)
    and e.lease_until > '-infinity';
end
$$;
