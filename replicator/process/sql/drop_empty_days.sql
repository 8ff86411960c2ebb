-- Drops empty partitions; gives how many, or -1 when a lock was not to be had.
select rowrelay.drop_empty_days();
