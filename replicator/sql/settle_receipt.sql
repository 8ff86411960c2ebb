-- The receipt of a batch.
--   $1 token  $2 target  $3 instance  $4 when it was claimed  $5 ids of what was delivered  $6 how many were refused
insert into rowrelay.receipt (token, target, instance, claimed_at, settled_at, change_ids, refused)
values ($1::bigint, $2::integer, $3::uuid, $4::timestamptz, clock_timestamp(), $5::bigint[], $6::integer);
