-- Purpose:    discards changes that wait because their target cannot take their table, also those that are in the queue
--             for another attempt: a part of rowrelay.skip(). The caller has locked all lanes of these targets.
-- Parameters: target (null: all); captures (null: all); change ids (null: all of these)
-- Result:     number of discarded changes
create or replace function rowrelay.skip_waiting(target_id integer, captures integer[], change_ids bigint[])
  returns bigint
language plpgsql as $$
declare
  given_up bigint;
begin
  -- Locks the targets, so that no process releases changes meanwhile.
  perform from rowrelay.target t where t.id = coalesce(target_id, t.id) order by t.id for no key update;
  with unrefused as (
    delete from rowrelay.refusal f
     where f.state = 'waiting'
       and (target_id is null or f.target = target_id)
       and (captures is null or f.capture = any (captures))
       and (change_ids is null or f.change_id = any (change_ids))
    returning f.target, f.capture, f.change_id
  ), unqueued as (
    delete from rowrelay.queue q
     using rowrelay.hold h, rowrelay.change c
     where (target_id is null or h.target = target_id)
       and (captures is null or h.capture = any (captures))
       and q.lane = any (rowrelay.lanes_of(h.target)) and q.change_id <= h.released_to
       and (change_ids is null or q.change_id = any (change_ids))
       and c.id = q.change_id and c.day = q.day and c.capture = h.capture
    returning h.target, h.capture, q.change_id
  ), gone as (
    select u.* from unrefused u union all select u.* from unqueued u
  ), tried as (
    update rowrelay.hold h set released = greatest(h.released - u.n, 0)
      from (select q.target, q.capture, count(*) as n from unqueued q group by q.target, q.capture) as u
     where h.target = u.target and h.capture = u.capture
  ), parts as (
    select g.*, (row_number() over (partition by g.target, g.capture order by g.change_id) - 1) / 10000 as part
      from gone g
  ), noted as (
    insert into rowrelay.receipt (token, part, target, outcome, error, attempts, actor, settled_at, change_ids,
                                  first_id, last_id)
    select nextval('rowrelay.claim_token'), 0, p.target, 'skipped', min(h.message), 0, rowrelay.actor(),
      clock_timestamp(),
           array_agg(p.change_id order by p.change_id), min(p.change_id), max(p.change_id)
      from parts p left join rowrelay.hold h on h.target = p.target and h.capture = p.capture
     group by p.target, p.capture, p.part
  )
  select count(*) into given_up from gone;
  -- A table without waiting changes is no longer held. While its row is locked nobody adds any.
  perform from rowrelay.hold h
    where h.target = coalesce(target_id, h.target) and (captures is null or h.capture = any (captures))
    order by h.target, h.capture for update;
  with idle as (
    delete from rowrelay.hold h
     where h.target = coalesce(target_id, h.target) and (captures is null or h.capture = any (captures))
       and h.released = 0
       and not exists (select from rowrelay.refusal f
                        where f.target = h.target and f.capture = h.capture and f.state = 'waiting')
    returning h.target
  )
  -- A new version makes all processes read that.
  update rowrelay.target t set version = t.version + 1 where t.id in (select i.target from idle i);
  update rowrelay.hold h set retry_at = clock_timestamp()
   where h.target = coalesce(target_id, h.target) and (captures is null or h.capture = any (captures));
  return given_up;
end
$$;
