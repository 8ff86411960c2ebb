-- Keeps other sessions from releasing or adding held changes of a target until this transaction ends. Locks are taken
-- in the order lanes, target, holds.
--   $1 target
with target as materialized (
  select t.id from rowrelay.target t where t.id = $1::integer for no key update
)
select h.capture from target t join rowrelay.hold h on h.target = t.id order by h.capture for update of h;
