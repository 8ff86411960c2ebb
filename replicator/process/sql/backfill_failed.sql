-- Records that backfill $1 failed because of $2; it is tried again after a while. True: that is news.
update rowrelay.backfill b set note = $2, retry_at = clock_timestamp() + interval '10 s'
  from rowrelay.backfill was
 where b.id = $1::integer and was.id = b.id
returning was.note is distinct from b.note;
