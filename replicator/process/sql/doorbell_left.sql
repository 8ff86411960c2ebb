-- For how many more changes writers will ring.
select d.last_value - rowrelay.last_change_id() from rowrelay.doorbell d;
