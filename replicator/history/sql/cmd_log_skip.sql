-- The last id at or below this one in certain days: where reading the log continues after a range of ids without
-- changes.
--   $1 id  $2 days
select coalesce(rowrelay.last_id_up_to($1::bigint, $2::date[]), 0);
