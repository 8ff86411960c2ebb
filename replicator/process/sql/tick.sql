-- Takes a tick of the log, or goes on with one; says how many changes it looked at.
--   $1 how many it may look at
select rowrelay.tick($1::integer);
