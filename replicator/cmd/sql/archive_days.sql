-- Days that can be written out: $1 how long they have to have been in the log.
select d.day, (select s.id from rowrelay.source s)
  from rowrelay.day d
  join rowrelay.partition_days() p on p.day = d.day
 where d.ends_at + $1::interval <= clock_timestamp() and d.dropped_at is null
 order by d.day;
