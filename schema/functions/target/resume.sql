-- Purpose:    continues delivery to a target that was paused or that a refused change halted. The refused change stays
--             in rowrelay.errors: use rowrelay.retry() or rowrelay.skip().
-- Parameters: name
-- Errors:     no such target
create or replace function rowrelay.resume(target text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  resumed_id integer := rowrelay.target_id(target);
begin
  update rowrelay.target t
     set state = 'running', reason = null, version = t.version + 1
   where (t.id = resumed_id or t.id in (select d.target from rowrelay.document d where d.delivers_to = resumed_id))
     and t.state <> 'running' and t.dropped_at is null;
  perform rowrelay.ring_doorbell();
end
$$;
