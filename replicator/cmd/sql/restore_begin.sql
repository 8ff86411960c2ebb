-- Begins bringing a day back: $1 header of the file. Gives the day, and the checksum that is known of its archive.
select r.day, (select d.sha256 from rowrelay.day d where d.day = r.day) from rowrelay.restore_begin($1::text) as r(day);
