-- Records that $3 rows of backfill $1 are copied; returns whether snapshot $2 is still to be copied, and whether a
-- session waits for an exclusive lock on the table, which blocks all others.
update rowrelay.backfill b set rows_read = $3::bigint
  from rowrelay.capture c
 where b.id = $1::integer and c.id = b.capture
returning coalesce(b.state = 'copying' and b.give_up is null and b.snapshot::text = $2, false),
          exists (select from pg_locks l
                   where l.locktype = 'relation' and not l.granted and l.mode = 'AccessExclusiveLock'
                     and l.database = (select d.oid from pg_database d where d.datname = current_database())
                     and l.relation = any (rowrelay.captured_tables(c)::oid[]));
