-- Adds what was copied to the log: $1 header of the file.
select rowrelay.restore_end($1::text);
