-- Records on disk, before anything is copied, that backfill $1 copies what snapshot $2 shows; that puts on disk all
-- that the snapshot shows, too. No row when the copy was cancelled.
with durably as materialized (
  select set_config('synchronous_commit', 'on', true)
)
update rowrelay.backfill b set snapshot = $2::pg_snapshot, rows_read = 0, note = null
  from durably
 where b.id = $1::integer and b.state = 'copying' and b.give_up is null
returning b.id;
