-- Removes rowrelay's triggers from a table: $1 its name or oid, $2 seconds to wait for the lock.
select rowrelay.release_table($1::regclass, lock_wait => make_interval(secs => $2::integer));
