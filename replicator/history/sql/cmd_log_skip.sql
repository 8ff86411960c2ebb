-- Where the log goes on below a range of ids that had nothing.
--   $1 the last id that may be there   $2 the days in which it can be
select coalesce(rowrelay.last_id_up_to($1::bigint, $2::date[]), 0);
