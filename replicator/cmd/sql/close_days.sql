-- Finds out which days are closed.
select rowrelay.close_days();
