-- The last change id that was given out. Asked before horizon_writers.sql, so that a writer that is not in that list
-- can only get a larger id.
select rowrelay.last_change_id();
