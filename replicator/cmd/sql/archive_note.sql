-- Records that day $1 was archived in file $2 with checksum $3.
select rowrelay.archive_note($1::date, $2::text, $3::text);
