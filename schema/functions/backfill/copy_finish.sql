-- Purpose:    finishes copying a table as a whole: moves the last changes out of the waiting room, and queues new ones
--             in the target's lanes again. It takes a lock that blocks writers, as rowrelay.copy_switch() does.
-- Parameters: number of the backfill; how many changes to move at most under that lock: if there are more, it is
--             released
-- Result:     finished: true when done; else note says what it waits for: call rowrelay.copy_join(), then this again
--             later
-- Errors:     lock_not_available: another session is changing the target; nothing was done
create or replace function rowrelay.copy_finish(backfill_id integer, most_rows integer, out finished boolean,
                                                out note text)
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '500ms'
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
  set jit = off as $$
declare
  b          rowrelay.backfill;
  capture    rowrelay.capture;
  target     rowrelay.target;
  room       integer;
  writers    record;
  waited_for text[];
begin
  finished := false;
  select k.* into strict b from rowrelay.backfill k where k.id = backfill_id;
  select t.* into strict target from rowrelay.target t where t.id = b.target;
  -- in the same lock order as everywhere
  if not rowrelay.try_lock_configuration() then
    note := 'another session is changing captures or targets';
    return;
  end if;
  select c.* into strict capture from rowrelay.capture c where c.id = b.capture for update;
  perform from rowrelay.target t where t.id = b.target for update;
  select k.* into strict b from rowrelay.backfill k where k.id = backfill_id for update;
  if b.state <> 'joining' then
    finished := true;
    return;
  end if;
  room := rowrelay.waiting_room(b.capture, b.target);
  begin
    select w.* into writers from rowrelay.copy_writers(b, capture) as w;
    if not writers.may_lock then
      note := writers.note;
      return;
    end if;
    if (select count(*) from (
          select from generate_series(rowrelay.lane_number(b.target, -1) + room,
                                      rowrelay.lane_number(b.target, target.lanes - 1) + room) as lane
            join rowrelay.queue q on q.lane = lane.lane limit most_rows + 1) as q) > most_rows then
      raise exception 'too many' using errcode = 'lock_not_available';
    end if;
    execute format('drop function rowrelay.%I()', format('copies_%s_%s', b.capture, b.target));
    perform rowrelay.make_trigger_function(b.capture);
    -- last, because event triggers may have written to the table meanwhile
    perform rowrelay.copy_join(backfill_id, 0, 2147483647, room);
  exception when lock_not_available then
    note := 'waits for a moment without writers to the table';
    waited_for := rowrelay.backfill_writers(capture);
    update rowrelay.backfill k set waits_for = waited_for where k.id = backfill_id;
    return;
  end;
  finished := true;
  delete from rowrelay.gap g
   where b.snapshot is not null and b.row_filter is null and g.capture = b.capture and g.target = b.target
     and g.noted_at < b.registered_at;
  update rowrelay.backfill k
     set state = case when b.snapshot is not null then 'done' when b.give_up is not null then 'cancelled'
       else 'waiting' end,
         finished_at = case when b.snapshot is not null or b.give_up is not null then clock_timestamp() end,
         note = case when b.snapshot is null then coalesce(b.give_up, b.note) end,
         waits_for = null, waits_since = null, rows_read = case when b.snapshot is null then 0 else b.rows_read end
   where k.id = backfill_id;
end
$$;
