-- The target that has been failing for longest, of those that a process serves: its name, for how many milliseconds,
-- why.
--   $1 instance
-- Gives outage: target, milliseconds, reason
select t.name as target, (extract(epoch from clock_timestamp() - o.since) * 1000)::bigint as milliseconds,
       concat_ws(' -- ', o.message, o.hint) as reason
  from rowrelay.trouble o
  join rowrelay.target t on t.id = o.target and t.state = 'running' and t.dropped_at is null
  join rowrelay.instance i on i.id = $1::uuid and (i.targets is null or t.id = any (i.targets))
 order by o.since limit 1;
