-- The state of target $1, its circuit breaker and the processes that deliver to it, for the console; null: there is no
-- such target.
select json_build_object(
  'target', s.target, 'state', s.state, 'backlog', s.backlog::text, 'lag', extract(epoch from s.oldest_pending),
  'rate', s.rate::text, 'errors', s.errors::text, 'blocked', s.blocked::text, 'note', s.note,
  'breaker', (select json_build_object('since', o.since, 'tried', o.last_at, 'attempts', o.attempts::text,
                                       'next', greatest(extract(epoch from o.retry_at - clock_timestamp()), 0),
                                       'probing', coalesce(o.probe_until > clock_timestamp(), false),
                                       'message', o.message, 'hint', o.hint)
                from rowrelay.trouble o
                join rowrelay.target t on t.id = o.target
               where t.name = s.target and t.dropped_at is null),
  'processes', (select coalesce(json_agg(p order by p.state desc, p.started_at), '[]')
                  from (select i.host, i.pid, i.version, i.workers, i.state, i.started_at, i.doing
                          from rowrelay.instances i
                         where s.target = any (i.targets)
                         order by i.state desc, i.started_at
                         limit 100) p))
  from rowrelay.status s
 where s.target = $1::text;
