-- Puts back into the queue what was to be sent at most once and was not sent.
--   $1 target's name  $2 change ids
select rowrelay.retry($1::text, $2::bigint[]);
