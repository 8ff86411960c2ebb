-- Purpose:    returns a snapshot of what is committed and on the disk, so that no crash can undo what is visible in it.
--             What was committed with synchronous_commit = off is visible before it is there: then this waits until it
--             is, at most for the time after which PostgreSQL promises it, three times wal_writer_delay. In a
--             transaction with one snapshot it waits once. PostgreSQL does not list the transaction that asks among
--             those that are open, so it would count as committed when others have been since it got its id: what it
--             writes later would have been seen.
create or replace function rowrelay.durable_snapshot() returns pg_snapshot
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  own      constant xid8 := pg_current_xact_id_if_assigned();
  snapshot pg_snapshot := pg_current_snapshot();
  written  constant pg_lsn := pg_current_wal_insert_lsn();
  latest   constant timestamptz := clock_timestamp() + 3 * current_setting('wal_writer_delay')::interval;
begin
  if pg_visible_in_snapshot(own, snapshot) then
    snapshot := concat_ws(':', pg_snapshot_xmin(snapshot), pg_snapshot_xmax(snapshot),
                          (select string_agg(x.xid::text, ',' order by x.xid)
                             from (select pg_snapshot_xip(snapshot) as xid union select own) as x));
  end if;
  if current_setting('rowrelay.durable_snapshot', true) = snapshot::text then
    return snapshot;
  end if;
  while pg_current_wal_flush_lsn() < written and clock_timestamp() < latest loop
    perform pg_sleep(0.001);
  end loop;
  perform set_config('rowrelay.durable_snapshot', snapshot::text, true);
  return snapshot;
end
$$;
