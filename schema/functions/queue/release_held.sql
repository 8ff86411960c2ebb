-- Purpose:    retries tables that a target could not take, when they are due: puts waiting changes back into the queue,
--             the oldest first, one at first and more each time that all were delivered. A table without waiting
--             changes is no longer held. Running processes call it; see replicator/queue/hold.h. Tables that are due
--             within seconds are tried too, because each release makes all processes read their settings again.
-- Parameters: target's id
-- Result:     number of released changes
create or replace function rowrelay.release_held(target_id integer) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
  set jit = off as $$
declare
  held     rowrelay.hold;
  barred   jsonb; -- {capture: its changes with larger ids wait for those of others}
  first_id bigint;
  last_id  bigint;
  up_to    bigint;
  moved    bigint;
  oldest   bigint;
  total    bigint := 0;
begin
  -- the longest wait is a minute: a later time was written while the clock was ahead
  if not exists (select from rowrelay.hold h
                  where h.target = target_id
                    and h.retry_at not between clock_timestamp() and clock_timestamp() + interval '1 min') then
    return 0;
  end if;
  perform from rowrelay.target t where t.id = target_id for no key update; -- before holds, in the same order everywhere
  barred := (select jsonb_object_agg(b.capture, b.up_to) from rowrelay.barred_by_holds(target_id) as b);
  for held in
    select h.* from rowrelay.hold h
     where h.target = target_id
       and h.retry_at not between clock_timestamp() + interval '3 s' and clock_timestamp() + interval '1 min'
     order by h.capture for update skip locked
  loop
    -- Changes of a table that is being copied as a whole leave by its waiting room.
    continue when rowrelay.waiting_room(held.capture, target_id) <> 0;
    select min(f.change_id) into first_id
      from rowrelay.refusal f
     where f.target = target_id and f.capture = held.capture and f.state = 'waiting';
    -- up to where others may come in between
    select least((barred ->> held.capture::text)::bigint,
                 (select min(e.id)
                    from rowrelay.route r
                    cross join lateral unnest(r.former_ends || r.until_id) as e(id)
                   where r.capture = held.capture and r.target = target_id and e.id >= first_id),
                 9223372036854775807) into up_to;
    continue when up_to < first_id; -- what had its place before goes first, whatever time that is due at
    -- While the row is locked nobody adds waiting changes, so a statement that begins now sees all of them.
    with piece as materialized (
      select f.change_id from rowrelay.refusal f
       where f.target = target_id and f.capture = held.capture and f.state = 'waiting' and f.change_id <= up_to
       order by f.change_id limit held.piece
    ), moving as (
      delete from rowrelay.refusal f using piece p where f.target = target_id and f.change_id = p.change_id
      returning f.change_id, f.lane, f.day, f.bytes
    ), queued as (
      insert into rowrelay.queue (change_id, lane, day, bytes)
      select m.change_id, m.lane, m.day, m.bytes from moving m
      returning change_id
    )
    select min(q.change_id), max(q.change_id), count(*) into first_id, last_id, moved from queued q;
    if moved = 0 then
      delete from rowrelay.hold h where h.target = target_id and h.capture = held.capture;
      -- A new version makes all processes read that the table is no longer held.
      update rowrelay.target t set version = t.version + 1 where t.id = target_id;
      continue;
    end if;
    -- the next ones follow after a minute, even if no process reports the result of these
    update rowrelay.hold h
       set released_to = last_id, released = moved, retry_at = clock_timestamp() + interval '1 min'
     where h.target = target_id and h.capture = held.capture;
    oldest := least(oldest, first_id);
    total := total + moved;
  end loop;
  if total > 0 then
    perform rowrelay.rewind(target_id, oldest);
  end if;
  return total;
end
$$;
