-- Queues refused changes again: $1 target, $2 change ids; null: all.
select rowrelay.retry($1::text, $2::bigint[]);
