-- Removes rowrelay's triggers from a table: $1 its oid, $2 seconds to wait for the lock.
select rowrelay.release_table($1::oid::regclass, lock_wait => make_interval(secs => $2::integer));
