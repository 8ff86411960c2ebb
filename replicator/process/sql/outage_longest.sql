-- The target that has failed for longest, of those that a process serves: its name, for how long in milliseconds, why.
--   $1 instance
select t.name, (extract(epoch from clock_timestamp() - o.since) * 1000)::bigint, concat_ws(' -- ', o.message, o.hint)
  from rowrelay.trouble o
  join rowrelay.target t on t.id = o.target and t.state = 'running' and t.dropped_at is null
  join rowrelay.instance i on i.id = $1::uuid and (i.targets is null or t.id = any (i.targets))
 order by o.since limit 1;
