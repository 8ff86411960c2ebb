-- Takes empty partitions away: how many there were; -1: not now.
select rowrelay.drop_empty_days();
