-- Purpose:    stops delivery to a target, and of documents that go there, until rowrelay.resume(); changes captured
--             meanwhile wait in the queue. Waits until no batch of the target is in flight. Its reason says who did it.
-- Parameters: name
-- Errors:     no such target
create or replace function rowrelay.pause(target text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  paused_id integer;
  paused_by text;
begin
  perform rowrelay.lock_configuration();
  -- Before its row: a batch that is about to halt its target would wait for us while we wait for it.
  perform rowrelay.lock_target(t.id) from rowrelay.target t
    where t.name = pause.target and t.dropped_at is null;
  paused_id := rowrelay.target_id(target);
  paused_by := format('paused by %s at %s', rowrelay.actor(), to_char(clock_timestamp(), 'YYYY-MM-DD HH24:MI:SS'));
  update rowrelay.target t
     set state = 'paused', reason = paused_by, version = t.version + 1
   where (t.id = paused_id or t.id in (select d.target from rowrelay.document d where d.delivers_to = paused_id))
     and t.state <> 'paused' and t.dropped_at is null;
end
$$;
