-- Processes, those that run first, with the first 20 of their targets, for the console.
--   $1 part of the host's name; null: any  $2 at most so many
select coalesce(json_agg(i order by i.state desc, i.started_at), '[]')
  from (select p.host, p.pid, p.version, p.workers, p.targets[1:20] as targets,
               cardinality(p.targets) as target_count, p.state, p.started_at, p.heartbeat_at, p.doing,
               coalesce((select sum(cardinality(q.change_ids))
                           from rowrelay.target t
                           join rowrelay.receipt q
                             on q.target = t.id
                            and q.settled_at between now() - interval '1 min' and now() + interval '1 min'
                          where q.instance = p.id), 0)::text as changes
          from rowrelay.instances p
         where $1::text is null or strpos(lower(p.host), lower($1)) > 0
         order by p.state desc, p.started_at
         limit $2::integer) as i;
