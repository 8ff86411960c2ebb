-- An id up to which all changes have been delivered to a target.
--   $1 target
select coalesce((select f.floor from rowrelay.floor f where f.target = $1::integer), 0);
