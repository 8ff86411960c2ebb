-- Discards refused changes of target $1: $2 change ids; null: all.
select rowrelay.skip($1::text, $2::bigint[]);
