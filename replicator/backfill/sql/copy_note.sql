-- Records, in the transaction that copies a table to this target, which snapshot of it.
--   $1 source  $2 target  $3 capture  $4 snapshot  $5 rows
insert into rowrelay_target.copied as c (source, target, capture, snapshot, rows)
values ($1::uuid, $2::integer, $3::integer, $4, $5::bigint)
on conflict (source, target, capture) do update
  set snapshot = excluded.snapshot, rows = excluded.rows, copied_at = excluded.copied_at;
