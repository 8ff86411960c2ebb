-- It can again.
--   $1 target
delete from rowrelay.trouble o where o.target = $1::integer;
