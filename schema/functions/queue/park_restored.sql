-- Purpose:    handles the queue of a database that was restored from a dump or copied: queued changes may have been
--             delivered after the dump was made. Delivering a row with a key again does no harm. A row without a key
--             would appear twice, so its changes become refused changes until a person has compared both sides.
-- Result:     number of these changes
create or replace function rowrelay.park_restored() returns bigint
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  parked bigint;
begin
  with gone as (
    delete from rowrelay.queue q
     using rowrelay.change c, rowrelay.target t
     where c.id = q.change_id and c.day = q.day and c.key is null and c.op in ('i', 'u', 'd', 's')
       and q.lane > 0 and t.id = rowrelay.lane_target(q.lane) and t.dropped_at is null
       and rowrelay.keeps_state(t) and not exists (select from rowrelay.document d where d.target = t.id)
    returning q.change_id, q.lane, q.day, q.bytes, c.capture, t.id as target, t.name
  )
  insert into rowrelay.refusal (target, change_id, lane, day, bytes, capture, key, row_hash, state, attempts,
                                message, detail)
  select g.target, g.change_id, g.lane, g.day, g.bytes, g.capture, null, rowrelay.text_hash(''), 'error', 0,
         'the source was restored from a dump, so this change may have been delivered before',
         format('Its table has no key, so the row could appear twice. Compare both sides: rowrelay verify %1$s; then '
                'deliver the change: rowrelay retry %2$s --target %1$s; or discard it: rowrelay skip %2$s '
                '--target %1$s',
                rowrelay.shell_word(g.name), g.change_id)
    from gone g;
  get diagnostics parked = row_count;
  return parked;
end
$$;
