-- Copies rows of table $1 (oid) to target $2: $3 condition on them, $4 rows per second at most; null: all, any; $5 as a whole,
-- if that is possible.
select rowrelay.backfill($1::oid::regclass, $2::text, row_filter => $3::text, rate => $4::integer, copy => $5::boolean);
