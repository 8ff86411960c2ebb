-- Purpose:    stops sending a table to a target, as unroute() does, and discards its changes that are queued for the
--             target or were refused by it: for a table that is gone there and holds up all others. The log keeps the
--             changes and who discarded them. Waits until no batch of the target is in flight. Changes of open
--             transactions are not visible yet and will be queued: call it again to discard them.
-- Parameters: relation; target
-- Result:     number of discarded changes
-- Errors:     table not captured; no such target; the table was never routed there
create or replace function rowrelay.discard(relation regclass, target text) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  target_id integer;
  capture   rowrelay.capture;
  lanes     integer[];
  given_up  bigint;
begin
  perform rowrelay.lock_configuration();
  lanes := rowrelay.lanes_of(t.id) from rowrelay.target t where t.name = discard.target and t.dropped_at is null;
  -- Before any other lock: a batch that is about to halt its target would wait for us while we wait for it.
  perform rowrelay.lock_lanes(lanes);

  capture := rowrelay.captured(relation);
  target_id := rowrelay.target_id(target);
  if exists (select from rowrelay.route r where r.capture = capture.id and r.target = target_id
             and r.until_id is not null) then
    null; -- the route has ended, but changes of open transactions may have been queued since
  else
    perform rowrelay.unroute(relation, target);
  end if;

  delete from rowrelay.hold h where h.target = target_id and h.capture = capture.id;
  with unqueued as (
    delete from rowrelay.queue q
     using rowrelay.change c
     where q.lane = any (lanes) and c.id = q.change_id and c.day = q.day and c.capture = capture.id
    returning q.change_id, null::text as error
  ), unrefused as (
    delete from rowrelay.refusal f
     where f.target = target_id and f.capture = capture.id
    returning f.change_id, f.message as error
  ), gone as (
    select u.change_id, u.error, (row_number() over (partition by u.error order by u.change_id) - 1) / 10000 as part
      from (select * from unqueued union all select * from unrefused) as u
  ), noted as (
    insert into rowrelay.receipt (token, part, target, outcome, error, attempts, actor, settled_at, change_ids,
                                  first_id, last_id)
    select nextval('rowrelay.claim_token'), 0, target_id, 'skipped', g.error, 0, rowrelay.actor(), clock_timestamp(),
           array_agg(g.change_id order by g.change_id), min(g.change_id), max(g.change_id)
      from gone g group by g.error, g.part
  )
  select count(*) into given_up from gone;
  return given_up;
end
$$;
