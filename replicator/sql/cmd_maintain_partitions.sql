-- Makes the partitions of the next days, so that the first change finds one.
select rowrelay.maintain_partitions();
