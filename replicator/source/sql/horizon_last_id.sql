-- The last change id that was given out. Asked before horizon_writers.sql: a writer that is not in that list takes a
-- larger id.
select rowrelay.last_change_id();
