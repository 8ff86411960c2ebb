-- The name of another table whose rows a truncate of capture $1 would take away at target $2; null: there is none.
select rowrelay.shares_place($1::integer, $2::integer);
