-- Purpose:    handles the queue of a source that may have forgotten what it delivered: it was restored from a dump or
--             copied, or a standby took over, and rowrelay.continue_ids() was called there. Delivering a row with a key
--             again does no harm. A row without a key would appear twice, and what is to be sent at most once would be
--             sent again; so these changes become refused changes until a person has looked. They may be
--             - in the lanes, leased or not: they become refused;
--             - waiting for a table that the target cannot take (rowrelay.hold): they become refused;
--             - refused or behind such a one, and retried since: they stay, and people are told (perhaps_sent);
--             - in the waiting room of a copy that lets go of it: those that the copy does not include become refused;
--             - in that of a copy that has not read the table: a copy that ends well includes them. If it ends
--               otherwise, or ended well where this source does not know of it, they become refused before any leaves:
--               rowrelay.copy_join() calls this with the number of the backfill.
-- Parameters: happened: to the source, for people; backfill_id: only its waiting room (null: everything)
-- Result:     number of changes that became refused
create or replace function rowrelay.park_perhaps_sent(happened text, backfill_id integer default null) returns bigint
language plpgsql set search_path = pg_catalog, pg_temp
-- as no session of work has them: indexes may not be there yet
set enable_seqscan = on set enable_hashjoin = on set enable_bitmapscan = on set enable_mergejoin = on as $$
declare
  parked bigint;
  last   bigint := (select f.last_value from rowrelay.ids_from f); -- what came after it is new
begin
  if backfill_id is null then
    update rowrelay.backfill b set perhaps_sent_to = last where b.state = 'copying';
    update rowrelay.refusal f set perhaps_sent = happened
      from rowrelay.change c, rowrelay.target t
     where f.state <> 'waiting' and f.change_id <= last and t.id = f.target and c.id = f.change_id and c.day = f.day
       and not exists (select from rowrelay.document d where d.target = t.id) and t.url !~ '^postgres(ql)?:$'
       and (t.options ->> 'guarantee' is not distinct from 'at-most-once'
            or c.key is null and c.op in ('i', 'u', 'd', 's') and rowrelay.keeps_state(t));
  else
    last := (select b.perhaps_sent_to from rowrelay.backfill b where b.id = backfill_id);
  end if;
  with of_target as materialized (
    select t.id, t.name, rowrelay.shell_word(t.name) as word, rowrelay.keeps_state(t) as keeps_state,
           t.options ->> 'guarantee' is not distinct from 'at-most-once' as sends_once
      from rowrelay.target t
     where t.dropped_at is null and not exists (select from rowrelay.document d where d.target = t.id)
       and t.url !~ '^postgres(ql)?:$' -- into this database, in the transaction that settles
  ), place as materialized (
    select t.*, rowrelay.lane_number(t.id, -1) as first, 0 as room, null::bigint as held_to,
           null::pg_snapshot as snapshot
      from of_target t where backfill_id is null
     union all -- a copy as a whole that has read the table lets go of its waiting room piece by piece
    select t.*, rowrelay.waiting_lane(b.id, -1),
           rowrelay.waiting_lane(b.id, -1) - rowrelay.lane_number(t.id, -1), b.held_to, b.snapshot
      from of_target t join rowrelay.backfill b on b.target = t.id and b.state = 'joining'
     where backfill_id is null or b.id = backfill_id
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
     where backfill_id is null and f.state = 'waiting' and f.change_id <= last and t.id = f.target
       and c.id = f.change_id and c.day = f.day
       and (t.sends_once or t.keeps_state and c.key is null and c.op in ('i', 'u', 'd', 's'))
    returning f.change_id, f.lane, f.day, f.bytes, c.capture, c.op, c.key, t.id as target, t.word, t.sends_once
  ), gone as (
    select * from queued union all select * from held
  )
  insert into rowrelay.refusal (target, change_id, lane, day, bytes, capture, key, row_hash, state, attempts,
                                message, detail, perhaps_sent)
  select g.target, g.change_id, g.lane, g.day, g.bytes, g.capture, g.key,
         case when g.op in ('i', 'u', 'd', 's', 'r') then rowrelay.text_hash(coalesce(g.key, '')) else 0 end,
         'error', 0,
         format('the source %s, so this change may have been delivered before', happened),
         case when g.sends_once
              then format('It is not sent again by itself (option guarantee=at-most-once). To send it: rowrelay retry '
                          '%2$s --target %1$s; to discard it: rowrelay skip %2$s --target %1$s', g.word, g.change_id)
              else format('Its table has no key, so the row could appear twice. Compare both sides: rowrelay verify '
                          '%1$s; then deliver the change: rowrelay retry %2$s --target %1$s; or discard it: rowrelay '
                          'skip %2$s --target %1$s', g.word, g.change_id) end, happened
    from gone g;
  get diagnostics parked = row_count;
  update rowrelay.backfill b set perhaps_sent_to = null where b.id = backfill_id;
  return parked;
end
$$;
