-- Which snapshot of a table was copied to this target, and how many rows.
--   $1 source  $2 target  $3 capture
select c.snapshot, c.rows from rowrelay_target.copied c
 where c.source = $1::uuid and c.target = $2::integer and c.capture = $3::integer;
