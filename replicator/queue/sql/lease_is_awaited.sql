-- Whether another session waits for the end of these leases: rowrelay.lock_lanes() does so with the lanes' locks, which
-- nobody else takes while they are leased.
--   $1 lanes
select count(*) < cardinality($1::integer[])
  from (select from rowrelay.lane l where l.lane = any ($1::integer[]) for update skip locked) as k;
