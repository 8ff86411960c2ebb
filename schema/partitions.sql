-- The first partitions of rowrelay.change, and rowrelay.partition_day(). Running processes make more of them.
do $$ begin perform rowrelay.maintain_partitions(); end $$;
