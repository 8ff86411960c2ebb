-- Purpose:    notes that this run of the server goes on from the data of those that were noted before, once for each
--             run: cursors tell by it which runs a server is a successor of, see rowrelay.changes_since()
create or replace function rowrelay.note_start() returns void
language sql volatile set search_path = pg_catalog, pg_temp as $$
  insert into rowrelay.server_start (timeline, started, next_txid)
  select rowrelay.timeline(), rowrelay.server_started(), pg_snapshot_xmax(pg_current_snapshot())
      on conflict (timeline, started) do nothing
$$;
