-- Purpose:    returns a change's delivery to each target, for view rowrelay.history. A function, because its plan is
--             cached.
-- Parameters: change; its capture; its caveat; errors of targets: {target's id: message}. The caller passes these,
--             because this function does not know who may read the table.
-- Result:     {target: {"status", "attempts", "process", "host", "pid", "claimed_at", "settled_at", "answer", "error",
--             "actor", "again", "again_by", "again_at"}}, null when there is no target, or the caller may not read the
--             changes of the table. Status: new, in-progress,
--             complete, error; skipped: refused, and discarded by `actor`; superseded: refused, and replaced by a later
--             change of the row; dropped: the target or the route was dropped first. Process, host and pid: of the
--             process that has it, or had it last. Again: "retried" or "replayed" if somebody has queued it once more,
--             and who was the last to do so. Unknown members are left out.
create or replace function rowrelay.delivery_of(change_id bigint, capture_id integer, caveat json, errors jsonb)
returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off as $$
declare
  -- current_user is the owner here
  caller  constant name := case current_setting('role') when 'none' then session_user
                                                         else current_setting('role') end;
  goes_to record;
  last    record;          -- its latest receipt from a process, or of what somebody has discarded
  again   rowrelay.receipt; -- its latest of what somebody has queued once more
  refused rowrelay.refusal;
  leased  record;
  queued  integer;         -- the lane
  taker   xid;             -- the last transaction that deleted it from the queue, or tried to
  status  text;
  result  jsonb;
begin
  -- as rowrelay.may_read(), which asks for the rights of current_user; most often it is the owner who asks
  if not pg_has_role(caller, current_user, 'usage') and not exists (
    select from rowrelay.capture c
      join pg_roles u on u.rolname = caller
      left join pg_class r on r.oid = c.relation
     where c.id = capture_id
       and (exists (select from pg_roles a
                     where a.rolname = 'rowrelay_admin' and pg_has_role(u.oid, a.oid, 'usage'))
            or has_table_privilege(u.oid, r.oid, 'select')
               and (not r.relrowsecurity or u.rolbypassrls
                    or not r.relforcerowsecurity and pg_has_role(u.oid, r.relowner, 'usage'))))
  then
    return null;
  end if;
  for goes_to in
    select t.id, t.name, t.lanes, t.dropped_at is null and r.until_id is null as is_open, r.is_document
      from (select r.target, r.until_id, false as is_document
              from rowrelay.route r
             where r.capture = capture_id and change_id > r.from_id and change_id <= coalesce(r.until_id, change_id)
               -- a snapshot goes to one target, and so does a change that is queued again
               and r.target = coalesce((caveat ->> 'target')::integer, r.target)
             union all
            -- documents that it may have changed
            select distinct s.document, null::bigint, true from rowrelay.document_source s
              where s.capture = capture_id) as r
      join rowrelay.target t on t.id = r.target
  loop
    select s.*, sum(s.attempts) over () as all_attempts,
           bool_or(s.outcome in ('retried', 'replayed')) over () as is_again into last
      from rowrelay.receipt s
     where int8range(s.first_id, s.last_id, '[]') @> delivery_of.change_id and s.target = goes_to.id
       and delivery_of.change_id = any (s.change_ids)
     order by s.outcome in ('retried', 'replayed'), s.settled_at desc, s.token desc, s.part limit 1;
    again := null;
    if last.is_again then
      select s.* into again
        from rowrelay.receipt s
       where int8range(s.first_id, s.last_id, '[]') @> delivery_of.change_id and s.target = goes_to.id
         and delivery_of.change_id = any (s.change_ids) and s.outcome in ('retried', 'replayed')
       order by s.settled_at desc, s.token desc limit 1;
    end if;
    refused := null;
    queued := null;
    select null::uuid as instance, null::timestamptz as claimed_at, null::text as host,
      null::integer as pid into leased;
    status := case when again.settled_at >= last.settled_at then null
                   when last.outcome in ('delivered', 'copied') then 'complete'
                   when last.outcome in ('skipped', 'superseded') then last.outcome end;
    if status is null then
      select f.* into refused from rowrelay.refusal f where f.target = goes_to.id
        and f.change_id = delivery_of.change_id;
      if refused.target is null then
        select q.lane, q.xmax into queued, taker
          from rowrelay.queue q
         where q.change_id = delivery_of.change_id
           and q.lane = any (array(select rowrelay.lane_number(goes_to.id, n) + room.lane
                                     from (select 0
                                           union select rowrelay.waiting_room(capture_id, goes_to.id)) as room(lane),
                                          generate_series(-1, goes_to.lanes - 1) as n));
      end if;
      continue when goes_to.is_document and coalesce(last.target, refused.lane, queued) is null;
      select l.instance, l.claimed_at, i.host, i.pid into leased
        from rowrelay.lease l left join rowrelay.instance i on i.id = l.instance
       where l.lane = coalesce(queued, refused.lane) and l.lease_until > clock_timestamp();
      status := case
        when leased.instance is not null then 'in-progress'
        when refused.state = 'waiting' then 'new'
        -- with guarantee at-most-once it counts as refused until the target answers
        when refused.target is not null then 'error'
        when queued is null then case when goes_to.is_open then 'complete' else 'dropped' end
        -- the process that delivers it has deleted it and not committed yet
        when exists (select from pg_locks l
                      where l.locktype = 'transactionid' and l.transactionid = taker and l.mode = 'ExclusiveLock'
                        and l.granted) then 'in-progress'
        else 'new' end;
    end if;
    result := coalesce(result, '{}') || jsonb_build_object(goes_to.name, jsonb_strip_nulls(jsonb_build_object(
      'status', status,
      'attempts', coalesce(last.all_attempts, refused.attempts),
      'process', coalesce(leased.instance, last.instance),
      'host', coalesce(leased.host, last.host),
      'pid', coalesce(leased.pid, last.pid),
      'claimed_at', coalesce(leased.claimed_at, last.claimed_at),
      'settled_at', case when status not in ('new', 'in-progress') then coalesce(last.settled_at,
          refused.refused_at) end,
      'answer', last.answer,
      'error', case when status in ('error', 'skipped', 'superseded') then errors -> goes_to.id::text end,
      'actor', case when last.outcome not in ('retried', 'replayed') then last.actor end,
      'again', again.outcome,
      'again_by', again.actor,
      'again_at', again.settled_at)));
  end loop;
  return result;
end
$$;
