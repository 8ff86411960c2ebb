-- Begins to restore a day: $1 header of the file. Gives the day, and the recorded checksum of its archive.
select r.day, (select d.sha256 from rowrelay.day d where d.day = r.day) from rowrelay.restore_begin($1::text) as r(day);
