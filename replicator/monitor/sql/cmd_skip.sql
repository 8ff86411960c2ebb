-- Discards refused changes: $1 target, $2 change ids; null: all.
select rowrelay.skip($1::text, $2::bigint[]);
