-- Days that can be archived.
--   $1 interval: for how long they have to be over
select d.day, (select s.id from rowrelay.source s)
  from rowrelay.day d
  join rowrelay.partition_days() p on p.day = d.day
 where d.ends_at + $1::interval <= clock_timestamp() and d.dropped_at is null
 order by d.day;
