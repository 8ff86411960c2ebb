-- The state of each target, one row each.
create or replace view rowrelay.status as
with table_note as materialized ( -- once for all targets
  select w.target,
    string_agg(format('%s: %s', w.relation_name, w.note), '; ' order by w.n) filter (where w.n <= 20) as shown,
         greatest(count(*) - 20, 0) as more
    from (select r.target, c.relation_name, n.note,
          row_number() over (partition by r.target order by c.relation_name, c.id) as n
            from rowrelay.capture_notes() as n
            join rowrelay.capture c on c.id = n.capture
            join (select o.capture, o.target from rowrelay.route o where o.until_id is null
                  union
                  select s.capture, s.document from rowrelay.document_source s) as r on r.capture = c.id) as w
   group by w.target
), hung as materialized (
  select o.host, o.pid, o.targets, o.started_at, o.heartbeat_at,
         -- as delivery/work.c limits its sessions; the longest of any target
         (select 2 * (60 + max(coalesce(t.options ->> 'push_timeout', '60')::integer))
            from rowrelay.target t where t.dropped_at is null) as may_hold
    from rowrelay.instances i join rowrelay.instance o on o.id = i.id where i.state = 'hung'
)
select t.name as target,
       s.state,
       pending.backlog,
       clock_timestamp() - pending.captured_at as oldest_pending,
       coalesce((select round(sum(cardinality(p.change_ids)) / 60.0, 1) from rowrelay.receipt p
                  where p.target = t.id and p.outcome = 'delivered' and p.settled_at between now() - interval '1 min'
                    and now() + interval '1 min'), 0) as rate,
       refused.errors,
       refused.blocked,
       concat_ws('; ',
         (select format('nothing is delivered from this database: it was %s since it delivered -- if it is the source '
                        'now: %s', l.happened, rowrelay.command('rowrelay resume --here',
                                                              'select rowrelay.skip_lost_ids(is_here => true)'))
            from rowrelay.another_life() as l(happened) where l.happened is not null),
         t.reason,
         t.may_differ,
         case when o.target is not null then
           format('since %s (%s): %s', to_char(o.since, 'YYYY-MM-DD HH24:MI:SS'),
                  case o.attempts when 1 then '1 attempt' else o.attempts || ' attempts' end,
                  concat_ws(' -- ', o.message, o.hint)) end,
         (select string_agg(format('%s waits since %s (%s): %s', c.relation_name,
                                   to_char(h.since, 'YYYY-MM-DD HH24:MI:SS'),
                                   case h.attempts when 1 then '1 attempt' else h.attempts || ' attempts' end,
                                     concat_ws(' -- ', h.message, h.hint)), '; ' order by c.relation_name)
            from rowrelay.hold h join rowrelay.capture c on c.id = h.capture where h.target = t.id),
         case when pg_notification_queue_usage() >= 0.1 then
           'processes ask once a second, because the server''s queue of notifications fills up -- run: rowrelay doctor'
           end,
         (select string_agg(format('process %s on %s has said nothing for %s s and may hold lanes, for %s s at most -- '
                                   'end it there: kill -KILL %1$s', h.pid, h.host,
                                   trunc(extract(epoch from now() - h.heartbeat_at)), h.may_hold),
                            '; ' order by h.started_at)
            from hung h where h.targets is null or t.id = any (h.targets)),
         (select format('%s leased by a process that does not answer, until %s',
                        case count(*) when 1 then '1 lane is' else count(*) || ' lanes are' end,
                        to_char(max(least(e.lease_until, clock_timestamp() + e.lasts)), 'HH24:MI:SS'))
            from rowrelay.lease e
           where e.lane between rowrelay.lane_number(t.id, -1) and rowrelay.lane_number(t.id, t.lanes - 1)
             and e.lease_until > clock_timestamp()
             and not exists (select from rowrelay.instance i
                              where i.id = e.instance and i.heartbeat_at > now() - interval '30 s')
          having count(*) > 0),
         (select string_agg(concat_ws(', ', format('backfill of %s: %s %%', b.relation_name, b.percent), b.note), '; '
                            order by b.relation_name)
            from rowrelay.backfills b where b.target = t.name and b.state not in ('done', 'cancelled')),
         (select format('%s may lack rows from before, because its backfill ended (%s) -- run: %s%s',
                        (array_agg(b.relation_name order by b.relation_name))[1],
                        (array_agg(b.note order by b.relation_name))[1],
                        (array_agg(b.start_again order by b.relation_name))[1],
                        case when count(*) > 1 then format('; and %s more', count(*) - 1) end)
            from rowrelay.backfills b where b.target = t.name and b.start_again is not null having count(*) > 0),
         (select string_agg(w.note, '; ' order by w.unfound)
            from (select g.unfound,
                         format(case when g.unfound
                                  then '%s differs: rows without a key that were to be changed or deleted there were '
                                       'not found, last at %s -- run: %s%s'
                                  else '%s lacks changes made before %s, when its target or source was restored, its '
                                       'triggers, or those of a new child or partition, were missing or disabled, it '
                                       'was another table or captured otherwise, or columns were altered -- run: %s%s'
                                       end,
                                (array_agg(g.relation_name order by g.relation_name))[1],
                                to_char((array_agg(g.noted_at order by g.relation_name))[1], 'YYYY-MM-DD HH24:MI:SS'),
                                (array_agg(g.repair order by g.relation_name))[1],
                                case when count(*) > 1 then format('; and %s more', count(*) - 1) end) as note
                    from rowrelay.gaps g where g.target = t.name group by g.unfound) as w),
         (select n.shown from table_note n where n.target = t.id),
         (select format('notes of %s: see %s',
                        case n.more when 1 then '1 more table' else n.more || ' more tables' end,
                        rowrelay.command('rowrelay status --tables', 'view rowrelay.captures'))
            from table_note n where n.target = t.id and n.more > 0),
         -- of the database, so once
         (select format('publication %s is for all tables: a subscriber without those of rowrelay stops -- run: %s',
                        quote_ident(min(p.pubname::text collate "default")),
                        rowrelay.command('rowrelay doctor', 'schema/check_published.sql'))
            from pg_publication p
           where p.puballtables and t.id = (select min(a.id) from rowrelay.target a where a.dropped_at is null)
             and not (select o.publish_anyway from rowrelay.source o)
          having count(*) > 0)) as note
  from rowrelay.target t
  join rowrelay.target_states s on s.target = t.id
  left join rowrelay.trouble o on o.target = t.id
  cross join lateral rowrelay.pending_of(t.id, t.lanes) as pending
  -- blocked: behind a refused change, or because the target cannot take the table
  cross join lateral (
    select r.errors,
      r.blocked + (select count(*) from (select from rowrelay.refusal f where f.target = t.id and f.state = 'waiting'
                                                         limit 1000000) as w) as blocked
      from (select count(*) filter (where f.state = 'error') as errors,
            count(*) filter (where f.state = 'blocked') as blocked
              from rowrelay.refusal f where f.target = t.id and f.state <> 'waiting') as r) as refused
 where t.dropped_at is null;
comment on view rowrelay.status is 'one row for each target: state, backlog (counted up to a million), age of the '
                                   'oldest pending change, changes per second of the last minute, refused changes';
