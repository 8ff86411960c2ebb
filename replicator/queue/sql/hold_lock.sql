-- Keeps others from releasing changes of the target's held tables, and from putting more by, until this is committed.
-- Whoever needs the target's row takes it before holds, and after lanes.
--   $1 target
with target as materialized (
  select t.id from rowrelay.target t where t.id = $1::integer for no key update
)
select h.capture from target t join rowrelay.hold h on h.target = t.id order by h.capture for update of h;
