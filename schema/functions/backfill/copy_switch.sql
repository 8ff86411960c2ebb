-- Purpose:    begins to copy a table to a target as a whole: from now on its changes go into a waiting room. It briefly
--             takes a lock that blocks writers, so that every transaction either has ended with all its changes in the
--             target's lanes, or has all of them in the waiting room. It requests the lock only when all transactions
--             that were writing at the last call have ended, and for a tenth of a second: nobody queues behind it for
--             longer, and it waits for long transactions without it.
-- Parameters: number of the backfill
-- Result:     switched: true when done; else note says what it waits for: call it again later
-- Errors:     the backfill is not waiting to be copied as a whole
create or replace function rowrelay.copy_switch(backfill_id integer, out switched boolean, out note text)
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '500ms' as $$
declare
  first_lane constant integer := rowrelay.waiting_lane(backfill_id, -1);
  b          rowrelay.backfill;
  capture    rowrelay.capture;
  flag       text;
  waited_for text[];
  last_id    bigint;
begin
  switched := false;
  -- in the same order as everywhere: configuration, capture, target, backfill
  select k.* into strict b from rowrelay.backfill k where k.id = backfill_id;
  if not rowrelay.try_lock_configuration() then
    note := 'another session is changing captures or targets';
    return;
  end if;
  select c.* into strict capture from rowrelay.capture c where c.id = b.capture for update;
  perform from rowrelay.target t where t.id = b.target for update;
  select k.* into strict b from rowrelay.backfill k where k.id = backfill_id for update;
  if b.state <> 'waiting' or b.way <> 'copy' then
    raise exception 'backfill % is not waiting to copy its table as a whole', backfill_id
      using errcode = 'object_not_in_prerequisite_state';
  end if;
  if capture.released_at is not null
     or not exists (select from rowrelay.route r where r.capture = b.capture and r.target = b.target
                    and r.until_id is null) then
    update rowrelay.backfill k
       set state = 'cancelled', finished_at = clock_timestamp(), note = 'the table is no longer routed to the target'
     where k.id = backfill_id;
    return;
  end if;
  flag := format('copies_%s_%s', b.capture, b.target);
  select w.may_lock, w.note into switched, note from rowrelay.copy_writers(b, capture) as w;
  if not switched then
    return;
  end if;

  last_id := rowrelay.last_change_id(); -- nobody writes to the table
  execute format('create or replace function rowrelay.%I() returns integer language sql immutable as %L', flag,
                 format('select %s', first_lane - rowrelay.lane_number(b.target, -1)));
  execute format('comment on function rowrelay.%I() is %L', flag,
                 'the table is being copied to the target; see rowrelay.waiting_room()');
  execute format('revoke all on function rowrelay.%I() from public', flag);
  delete from rowrelay.queue q where q.lane between first_lane and rowrelay.waiting_lane(backfill_id, 1023);
  perform rowrelay.make_trigger_function(b.capture);
  update rowrelay.backfill k
     set state = 'copying', held_to = last_id, waits_for = null, started_at = clock_timestamp(), note = null,
         retry_at = null, perhaps_sent_to = null
   where k.id = backfill_id;
exception when lock_not_available then
  switched := false;
  note := 'waits for a moment without writers to the table';
  waited_for := rowrelay.backfill_writers(capture);
  update rowrelay.backfill k set waits_for = waited_for where k.id = backfill_id;
end
$$;
