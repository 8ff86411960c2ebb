-- Begins copying the table of backfill $1 as a whole, if nobody is writing to it.
select s.switched, s.note from rowrelay.copy_switch($1::integer) as s;
