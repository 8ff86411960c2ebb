-- Notes that backfill $1 is being copied as snapshot $2 shows it. On disk before anything arrives, and so is then all that the
-- snapshot shows. Gives no row when it is not to be copied any more.
with durably as materialized (
  select set_config('synchronous_commit', 'on', true)
)
update rowrelay.backfill b set snapshot = $2::pg_snapshot, rows_read = 0
  from durably
 where b.id = $1::integer and b.state = 'copying' and b.give_up is null
returning b.id;
