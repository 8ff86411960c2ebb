-- Purpose:    continues delivery to a target that was paused or that a refused change halted. The refused change stays
--             in rowrelay.errors: use rowrelay.retry() or rowrelay.skip(). Claims go on behind those of a copy of this
--             database that has delivered to the target until now; see rowrelay.skip_lost_ids(). The target keeps who
--             did it. One that runs may not differ any more (rowrelay.target.may_differ).
-- Parameters: name
-- Errors:     no such target
create or replace function rowrelay.resume(target text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  resumed_id integer := rowrelay.target_id(target);
  clock      constant bigint := extract(epoch from clock_timestamp() - timestamptz '2026-01-01 00:00:00+00') * 1000000;
begin
  perform setval('rowrelay.claim_token', clock) from rowrelay.claim_token t where t.last_value < clock;
  update rowrelay.target t
     set state = 'running', reason = null, version = t.version + 1,
         -- who resumes one that was stopped has repaired nothing yet
         may_differ = case when t.state <> 'running' or t.id <> resumed_id then t.may_differ end,
         resumed_by = rowrelay.actor(), resumed_at = clock_timestamp()
   where (t.id = resumed_id or t.id in (select d.target from rowrelay.document d where d.delivers_to = resumed_id))
     and (t.state <> 'running' or t.id = resumed_id and t.may_differ is not null) and t.dropped_at is null;
  perform rowrelay.ring_doorbell();
end
$$;
