-- What was to be sent at most once, and was not sent: back to the queue.
--   $1 target's name  $2 change ids
select rowrelay.retry($1::text, $2::bigint[]);
