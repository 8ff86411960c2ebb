-- A document that cannot be built until somebody alters it or what it reads, of those that a process serves: such a
-- document waits as a table does that its target cannot take.
--   $1 instance
-- Gives lasting: target, reason, hint
select t.name as target, o.message as reason, o.hint
  from rowrelay.trouble o
  join rowrelay.target t on t.id = o.target and t.state = 'running' and t.dropped_at is null
  join rowrelay.document d on d.target = t.id
  join rowrelay.instance i on i.id = $1::uuid and (i.targets is null or t.id = any (i.targets))
 where o.sqlstate ~ '^42' and o.attempts >= 3
 order by t.name limit 1;
