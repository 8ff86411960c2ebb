-- Purpose:    moves changes of a table that was copied as a whole out of the waiting room, the oldest first: those that
--             the copy's snapshot includes are settled, the others are queued in their lanes at their old place. If the
--             copy failed there is no snapshot, and all are queued. The lanes' locks are not needed: no newer change of
--             a key is in flight, because those are in the waiting room too.
-- Parameters: number of the backfill; the id above which it continues; how many rows to read; room: the waiting room
--             (rowrelay.waiting_room), null: the open one of this copy
-- Result:     next: where the next piece begins, null: there is no more at present; passed: number of changes moved
-- Errors:     lock_not_available: another session is changing the target; nothing was done
create or replace function rowrelay.copy_join(backfill_id integer, above bigint, most_rows integer,
                                              room integer default null, out next bigint, out passed bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '500ms'
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
  set jit = off as $$
declare
  most_id   constant bigint := 9223372036854775807;
  b         rowrelay.backfill;
  target    rowrelay.target;
  each_lane integer;
  bound     bigint;
  first_id  bigint;
  captures  integer[];
begin
  select k.* into strict b from rowrelay.backfill k where k.id = backfill_id;
  select t.* into strict target from rowrelay.target t where t.id = b.target;
  perform from rowrelay.target t where t.id = b.target for update; -- before the backfill, as others lock them
  -- nobody cancels it meanwhile
  select k.* into strict b from rowrelay.backfill k where k.id = backfill_id for update;
  passed := 0;
  if b.state <> 'joining' then
    return;
  end if;
  if b.perhaps_sent_to is not null then
    perform rowrelay.park_perhaps_sent('failed over, or was restored', b.id);
  end if;
  room := coalesce(room, rowrelay.waiting_room(b.capture, b.target));
  captures := rowrelay.copied_captures(b.capture, b.target);
  each_lane := greatest(100, most_rows / target.lanes);
  -- the highest id such that no lane has more than each_lane rows below it
  select min(l.highest) into bound
    from generate_series(rowrelay.lane_number(b.target, -1) + room,
                         rowrelay.lane_number(b.target, target.lanes - 1) + room) as lane
    cross join lateral (
      select max(q.change_id) as highest, count(*) as n
        from (select u.change_id from rowrelay.queue u
               where u.lane = lane.lane and u.change_id > above
               order by u.change_id limit each_lane) as q) as l
   where l.n = each_lane;
  with leaving as materialized (
    -- Transactions that were written elsewhere, before the database was restored, have numbers that no snapshot of
    -- this server knows.
    select q.lane, q.change_id,
           b.snapshot is not null
             and (coalesce(q.change_id <= b.held_to, false) or pg_visible_in_snapshot(c.txid, b.snapshot)) as is_copied
      from generate_series(rowrelay.lane_number(b.target, -1) + room,
                           rowrelay.lane_number(b.target, target.lanes - 1) + room) as lane
      cross join lateral (
        select u.lane, u.change_id, u.day from rowrelay.queue u
         where u.lane = lane.lane and u.change_id > above and u.change_id <= coalesce(bound, most_id)
        offset 0) as q
      cross join lateral (select c.capture, c.txid from rowrelay.change c where c.id = q.change_id
                          and c.day = q.day offset 0) as c
     where c.capture = any (captures)
  ), gone as (
    delete from rowrelay.queue q using leaving l
     where l.is_copied and q.lane = l.lane and q.change_id = l.change_id
  ), noted as (
    insert into rowrelay.receipt (token, part, target, outcome, answer, attempts, settled_at, change_ids,
                                  first_id, last_id)
    select nextval('rowrelay.claim_token'), 0, b.target, 'copied', 'it came with a copy of the table', 0,
      clock_timestamp(),
           array_agg(l.change_id order by l.change_id), min(l.change_id), max(l.change_id)
      from leaving l where l.is_copied having count(*) > 0
  ), queued as (
    update rowrelay.queue q set lane = q.lane - room from leaving l
     where not l.is_copied and q.lane = l.lane and q.change_id = l.change_id
    returning q.change_id
  )
  select (select count(*) from leaving), (select min(q.change_id) from queued q) into passed, first_id;
  if first_id is not null then
    perform rowrelay.rewind(b.target, first_id);
  end if;
  next := bound;
end
$$;
