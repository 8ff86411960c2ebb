-- Purpose:    gives a backfill up that is not finished. What it has queued is still delivered. It waits for the piece that
--             is being read.
-- Parameters: relation; target
-- Errors:     table not captured; no such target; no backfill under way
create or replace function rowrelay.cancel_backfill(relation regclass, target text) returns void
language plpgsql as $$
declare
  capture   rowrelay.capture := rowrelay.captured(relation);
  target_id integer := rowrelay.target_id(target);
begin
  update rowrelay.backfill b
     set state = 'cancelled', finished_at = clock_timestamp(), note = format('given up by %s', session_user)
   where b.capture = capture.id and b.target = target_id and b.state in ('waiting', 'running');
  if not found then
    raise exception 'no backfill of table % into target "%" is under way', relation, target
      using errcode = 'undefined_object', hint = 'View rowrelay.backfills shows them.';
  end if;
end
$$;
