-- Purpose:    moves queued changes of a table that is copied as a whole into the waiting room, piece by piece, the
--             newest first, so that the changes outside always precede those inside. Changes in lanes that a process
--             works on, in a transaction or by a lease, stay outside: call this again for them. At the end the table's
--             refused changes are moved too: the copy includes them, and nobody may retry them after it.
-- Parameters: number of the backfill; the id below which it continues (null: from the newest); how many rows to read
-- Result:     next: where the next piece begins, null: that was the last; busy: whether any of these were in flight
create or replace function rowrelay.copy_hold(backfill_id integer, below bigint, most_rows integer, out next bigint,
                                              out busy boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
  set jit = off as $$
declare
  most_id   constant bigint := 9223372036854775807;
  b         rowrelay.backfill;
  target    rowrelay.target;
  room      integer;
  each_lane integer;
  captures  integer[];
  lanes     integer[]; -- locked until this commits
begin
  busy := false;
  select k.* into strict b from rowrelay.backfill k where k.id = backfill_id;
  -- waits for a release of held changes, so that they are in the queue when it is read
  perform from rowrelay.target t where t.id = b.target for no key update; -- before the backfill, as others lock them
  -- nobody cancels it meanwhile
  select k.* into strict b from rowrelay.backfill k where k.id = backfill_id for update;
  if b.state <> 'copying' then
    return;
  end if;
  select t.* into strict target from rowrelay.target t where t.id = b.target;
  room := rowrelay.waiting_room(b.capture, b.target);
  captures := rowrelay.copied_captures(b.capture, b.target);
  -- Do not wait for lanes that others hold: a busy target always has some.
  lanes := array(select l.lane from rowrelay.lane l where l.lane = any (rowrelay.lanes_of(b.target)) order by l.lane
                    for update skip locked);
  lanes := array(select l from unnest(lanes) as l
                  where not exists (select from rowrelay.lease e where e.lane = l
                                    and e.lease_until > clock_timestamp()));
  each_lane := greatest(100, most_rows / target.lanes);
  -- the lowest id such that no lane has more than each_lane rows above it
  select max(l.lowest) into next
    from generate_series(rowrelay.lane_number(b.target, -1), rowrelay.lane_number(b.target, target.lanes - 1)) as lane
    cross join lateral (
      select min(q.change_id) as lowest, count(*) as n
        from (select u.change_id from rowrelay.queue u
               where u.lane = lane.lane and u.change_id < coalesce(below, most_id)
               order by u.change_id desc limit each_lane) as q) as l
   where l.n = each_lane;
  with found as materialized (
    select q.lane, q.change_id
      from generate_series(rowrelay.lane_number(b.target, -1), rowrelay.lane_number(b.target, target.lanes - 1)) as lane
      cross join lateral (
        select u.lane, u.change_id, u.day from rowrelay.queue u
         where u.lane = lane.lane and u.change_id >= coalesce(copy_hold.next, 0)
           and u.change_id < coalesce(below, most_id)
        offset 0) as q
      cross join lateral (select c.capture from rowrelay.change c where c.id = q.change_id
                          and c.day = q.day offset 0) as c
     where c.capture = any (captures)
  ), held as (
    update rowrelay.queue q set lane = q.lane + room from found f
     where q.lane = f.lane and q.change_id = f.change_id and f.lane = any (lanes)
  )
  select exists (select from found f where f.lane <> all (lanes)) into busy;
  if next is null and not busy then
    -- with guarantee at-most-once, changes in flight are among the refused
    busy := exists (select from rowrelay.refusal f
                     where f.target = b.target and f.capture = any (captures) and f.lane <> all (lanes));
  end if;
  if next is null and not busy then
    -- all that is missing so far comes with the copy, which closes gaps that are older than it
    update rowrelay.gap g set noted_at = b.registered_at - interval '1 ms'
     where g.capture = b.capture and g.target = b.target and g.noted_at >= b.registered_at;
    with freed as (
      delete from rowrelay.refusal f where f.target = b.target and f.capture = any (captures) returning f.*
    ), doubtful as ( -- unless it is copied now, it is to be refused again
      update rowrelay.backfill k set perhaps_sent_to = greatest(k.perhaps_sent_to, d.last_id)
        from (select max(f.change_id) as last_id from freed f where f.perhaps_sent is not null) as d
       where k.id = b.id and d.last_id is not null
    )
    insert into rowrelay.queue (change_id, lane, day, bytes)
    select f.change_id, rowrelay.lane_of_return(f) + room, f.day, f.bytes from freed f;
  end if;
end
$$;
