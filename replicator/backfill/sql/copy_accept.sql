-- Records that the target has the $3 rows of backfill $1 that snapshot $2 shows.
with durably as materialized (
  select set_config('synchronous_commit', 'on', true)
)
update rowrelay.backfill b
   set state = 'joining', rows_read = $3::bigint, rows_queued = $3::bigint, note = null, waits_for = null,
       retry_at = null
  from durably
 where b.id = $1::integer and b.state = 'copying' and b.snapshot::text = $2;
