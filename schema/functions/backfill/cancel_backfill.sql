-- Purpose:    cancels an unfinished backfill. Rows that it has queued are still delivered. It waits for the piece that
--             is being read. A copy of the whole table is cancelled by the process that works on it, or the next
--             running process, unless the target already has it.
-- Parameters: relation; target
-- Errors:     table not captured; no such target; no backfill under way
create or replace function rowrelay.cancel_backfill(relation regclass, target text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  capture   rowrelay.capture := rowrelay.captured(relation);
  target_id integer := rowrelay.target_id(target);
begin
  update rowrelay.backfill b
     set state = case when b.state in ('waiting', 'running') then 'cancelled' else b.state end,
         finished_at = case when b.state in ('waiting', 'running') then clock_timestamp() end,
         note = format('cancelled by %s', session_user),
         give_up = format('cancelled by %s', session_user)
   where b.capture = capture.id and b.target = target_id
     and b.state in ('waiting', 'copying', 'joining', 'running');
  if not found then
    raise exception 'no backfill of table % to target "%" is under way', relation, target
      using errcode = 'undefined_object',
            hint = 'To see those under way: '
                     || rowrelay.command('rowrelay status', 'select * from rowrelay.backfills;');
  end if;
end
$$;
