-- Removes from the errors what was sent at most once and did arrive.
--   $1 target  $2 change ids
delete from rowrelay.refusal f where f.target = $1::integer and f.change_id = any ($2::bigint[]);
