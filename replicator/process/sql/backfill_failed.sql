-- Records that backfill $1 failed because of $2; it is tried again after a while.
update rowrelay.backfill b set note = $2, retry_at = clock_timestamp() + interval '10 s' where b.id = $1::integer;
