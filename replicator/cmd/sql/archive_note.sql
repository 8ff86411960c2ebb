-- Remembers where day $1 was written to: file $2, checksum $3.
select rowrelay.archive_note($1::date, $2::text, $3::text);
