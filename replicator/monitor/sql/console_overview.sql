-- Targets and processes, for the console.
select json_build_object(
  'database', current_database(),
  'targets', (select coalesce(json_agg(t order by t.target), '[]')
                from (select s.target, s.state, s.backlog, extract(epoch from s.oldest_pending) as lag, s.rate,
                             s.errors, s.blocked, s.note
                        from rowrelay.status s) as t),
  'processes', (select coalesce(json_agg(i order by i.state desc, i.started_at), '[]')
                  from (select p.host, p.pid, p.version, p.workers, p.targets, p.state, p.started_at, p.doing,
                               coalesce(r.changes, 0) as changes
                          from rowrelay.instances p
                          left join lateral (
                            select sum(cardinality(q.change_ids)) as changes
                              from rowrelay.target t
                              join rowrelay.receipt q
                                on q.target = t.id
                               and q.settled_at between now() - interval '1 min' and now() + interval '1 min'
                             where q.instance = p.id) as r on true) as i));
