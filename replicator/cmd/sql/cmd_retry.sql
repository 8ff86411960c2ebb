-- Queues refused changes of target $1 again: $2 change ids; null: all.
select rowrelay.retry($1::text, $2::bigint[]);
