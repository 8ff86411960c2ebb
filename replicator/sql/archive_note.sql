-- Remembers where day $1 was written to: file $2, checksum $3.
update rowrelay.day set archive = $2::text, sha256 = $3::text, archived_at = clock_timestamp() where day = $1::date;
