-- A point in time: the changes committed by then, as a snapshot, and the last of the ids given out.
select pg_current_snapshot()::text, rowrelay.last_change_id();
