-- Purpose:    discards refused changes: they are never delivered to that target, and changes that waited behind them
--             (on_error=block) go on. The log keeps them and who discarded them.
-- Parameters: target (null: all); change ids (null: all refused changes, but none that wait because the target cannot
--             take their table: rowrelay.skip_table() discards these)
-- Result:     number of discarded changes
-- Errors:     no such target
create or replace function rowrelay.skip(target text default null, change_ids bigint[] default null) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  only_target integer;
  lanes       integer[];
  given_up    bigint;
  waiting     bigint[];
begin
  perform rowrelay.lock_configuration();
  lanes := rowrelay.lock_refused_lanes(target, change_ids, array(
    select distinct h.capture from rowrelay.change h where h.id = any (change_ids)));
  -- Locks the target, so that no process adds blocked changes meanwhile.
  if target is not null then
    only_target := rowrelay.target_id(target);
  end if;

  with gone as (
    delete from rowrelay.refusal f
     where (only_target is null or f.target = only_target)
       and f.lane = any (lanes)
       and f.state = 'error'
       and (change_ids is null or f.change_id = any (change_ids))
    returning f.target, f.capture, f.row_hash, f.change_id, f.message as error
  ), noted as (
    insert into rowrelay.receipt (token, part, target, outcome, error, attempts, actor, settled_at, change_ids,
                                  first_id, last_id)
    select nextval('rowrelay.claim_token'), 0, g.target, 'skipped', g.error, 0, rowrelay.actor(), clock_timestamp(),
           array_agg(g.change_id order by g.change_id), min(g.change_id), max(g.change_id)
      from gone g group by g.target, g.error
  ), freed as (
    select b.change_id from rowrelay.refusal b
     where b.state = 'blocked'
       and exists (select from gone g
                    where g.target = b.target and b.capture = any (rowrelay.captures_alike(g.capture))
                      and (g.row_hash = b.row_hash or 0 in (g.row_hash, b.row_hash)))
  )
  select (select count(*) from gone), array(select f.change_id from freed f) into given_up, waiting;
  if cardinality(waiting) > 0 then
    perform rowrelay.retry(target, waiting);
  end if;
  if change_ids is not null then
    given_up := given_up + rowrelay.skip_waiting(only_target, null, change_ids);
  end if;
  return given_up;
end
$$;
