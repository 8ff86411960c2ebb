-- Purpose:    says why changes of a day must not be dropped: some are queued (found lane by lane, however long the
--             queue is), were refused and neither retried nor skipped, or wait until a table is copied
-- Parameters: day; its first and last change; quick: use the stored floors, which is faster for a queue that was not
--             vacuumed for long
-- Result:     one text for each target and reason
create or replace function rowrelay.undelivered(day date, first_id bigint, last_id bigint, quick boolean default false)
returns setof text language sql volatile as $$
  select format('changes are queued for target %s', t.name)
    from rowrelay.target t
    left join rowrelay.floor f on quick and f.target = t.id and f.version = t.version
   where t.dropped_at is null
     and exists (select from generate_series(-1, t.lanes - 1) as n
                  cross join lateral (select from rowrelay.queue q
                                       where q.lane = rowrelay.lane_number(t.id, n)
                                         and q.change_id >= greatest(undelivered.first_id, f.floor + 1)
                                         and q.change_id <= undelivered.last_id and q.day = undelivered.day
                                       limit 1) as queued)
  union all
  select format('changes wait until %s is copied to target %s', c.relation_name, t.name)
    from rowrelay.backfill b
    join rowrelay.target t on t.id = b.target and t.dropped_at is null
    join rowrelay.capture c on c.id = b.capture
   where b.state in ('waiting', 'copying', 'joining', 'running')
     and exists (select from generate_series(-1, t.lanes - 1) as n
                  cross join lateral (select from rowrelay.queue q
                                       where q.lane = rowrelay.waiting_lane(b.id, n)
                                         and q.change_id >= undelivered.first_id
                                         and q.change_id <= undelivered.last_id and q.day = undelivered.day
                                       limit 1) as queued)
  union all
  select format('%s %s target %s', case count(*) when 1 then '1 change' else count(*) || ' changes' end,
                case f.state when 'error' then 'refused by' when 'waiting' then 'waiting for their table in'
                             else 'waiting behind refused ones of' end, t.name)
    from rowrelay.refusal f
    join rowrelay.target t on t.id = f.target and t.dropped_at is null
   where f.change_id >= undelivered.first_id and f.change_id <= undelivered.last_id and f.day = undelivered.day
   group by t.name, f.state
$$;
