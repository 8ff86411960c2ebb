-- A moment: the changes that are committed by it, and the last of their ids.
select pg_current_snapshot()::text, rowrelay.last_change_id();
