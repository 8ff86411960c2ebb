-- Purpose:    handles the queue of a source that may have forgotten what it delivered: it was restored from a dump or
--             copied, or a standby took over, and rowrelay.continue_ids() was called there. Delivering a row with a key
--             again does no harm. A row without a key would appear twice, and what is to be sent at most once would be
--             sent again; so these changes become refused changes until a person has looked.
-- Parameters: happened: to the source, for people
-- Result:     number of these changes
create or replace function rowrelay.park_perhaps_sent(happened text) returns bigint
language plpgsql set search_path = pg_catalog, pg_temp
-- as no session of work has them: indexes may not be there yet
set enable_seqscan = on set enable_hashjoin = on set enable_bitmapscan = on set enable_mergejoin = on as $$
declare
  parked bigint;
  last   constant bigint := (select f.last_value from rowrelay.ids_from f); -- what came after it is new
begin
  with of_target as materialized (
    select t.id, t.name, rowrelay.shell_word(t.name) as word, rowrelay.keeps_state(t) as keeps_state,
           t.options ->> 'guarantee' is not distinct from 'at-most-once' as sends_once
      from rowrelay.target t
     where t.dropped_at is null and not exists (select from rowrelay.document d where d.target = t.id)
  ), place as materialized (
    select t.*, rowrelay.lane_number(t.id, -1) as first, 0 as room, null::bigint as held_to,
           null::pg_snapshot as snapshot
      from of_target t
     union all -- a copy as a whole that has read the table lets go of its waiting room piece by piece
    select t.*, rowrelay.waiting_lane(b.id, -1),
           rowrelay.waiting_lane(b.id, -1) - rowrelay.lane_number(t.id, -1), b.held_to, b.snapshot
      from of_target t join rowrelay.backfill b on b.target = t.id and b.state = 'joining'
  ), queued as (
    delete from rowrelay.queue q
     using rowrelay.change c, place p
     where c.id = q.change_id and c.day = q.day and c.id <= last and q.lane between p.first and p.first + 1024
       -- what the copy includes is told of by rowrelay.copy_join()
       and (p.snapshot is null
            or q.change_id > coalesce(p.held_to, 0) and not pg_visible_in_snapshot(c.txid, p.snapshot))
       and (p.sends_once or p.keeps_state and c.key is null and c.op in ('i', 'u', 'd', 's'))
    returning q.change_id, q.lane - p.room as lane, q.day, q.bytes, c.capture, c.op, c.key, p.id as target, p.word,
              p.sends_once
  ), held as ( -- of tables that the target could not take
    delete from rowrelay.refusal f
     using rowrelay.change c, of_target t
     where f.state = 'waiting' and f.change_id <= last and t.id = f.target and c.id = f.change_id and c.day = f.day
       and (t.sends_once or t.keeps_state and c.key is null and c.op in ('i', 'u', 'd', 's'))
    returning f.change_id, f.lane, f.day, f.bytes, c.capture, c.op, c.key, t.id as target, t.word, t.sends_once
  ), gone as (
    select * from queued union all select * from held
  )
  insert into rowrelay.refusal (target, change_id, lane, day, bytes, capture, key, row_hash, state, attempts,
                                message, detail)
  select g.target, g.change_id, g.lane, g.day, g.bytes, g.capture, g.key,
         case when g.op in ('i', 'u', 'd', 's', 'r') then rowrelay.text_hash(coalesce(g.key, '')) else 0 end,
         'error', 0,
         format('the source %s, so this change may have been delivered before', happened),
         case when g.sends_once
              then format('It is not sent again by itself (option guarantee=at-most-once). To send it: rowrelay retry '
                          '%2$s --target %1$s; to discard it: rowrelay skip %2$s --target %1$s', g.word, g.change_id)
              else format('Its table has no key, so the row could appear twice. Compare both sides: rowrelay verify '
                          '%1$s; then deliver the change: rowrelay retry %2$s --target %1$s; or discard it: rowrelay '
                          'skip %2$s --target %1$s', g.word, g.change_id) end
    from gone g;
  get diagnostics parked = row_count;
  return parked;
end
$$;
