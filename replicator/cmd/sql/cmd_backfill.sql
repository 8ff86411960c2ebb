-- Copies the rows of a table to a target.
--   $1 oid of the table  $2 target  $3 condition on rows; null: all  $4 maximum rows per second; null: any
--   $5 whether to copy it as a whole where possible
select rowrelay.backfill($1::oid::regclass, $2::text, row_filter => $3::text, rate => $4::integer, copy => $5::boolean);
