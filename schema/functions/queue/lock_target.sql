-- Purpose:    waits until nothing is in flight to a target, or of documents that go there, and keeps other sessions
--             from claiming until the transaction ends: see rowrelay.lock_lanes()
-- Parameters: target
-- Errors:     as rowrelay.lock_lanes()
create or replace function rowrelay.lock_target(target integer) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform rowrelay.lock_lanes(array(
    select unnest(rowrelay.lanes_of(t.id)) from rowrelay.target t
     where t.id = lock_target.target
        or t.id in (select d.target from rowrelay.document d where d.delivers_to = lock_target.target)));
end
$$;
