-- Creates the first partitions of rowrelay.change and rowrelay.partition_day(). Running processes create later ones.
do $$ begin perform rowrelay.maintain_partitions(); end $$;
