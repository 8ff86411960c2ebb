-- Takes a tick of the log, or continues one; gives how many changes it looked at.
--   $1 maximum number of changes to look at
select rowrelay.tick($1::integer);
