-- Cancels the backfill of table $1 (oid) to target $2.
select rowrelay.cancel_backfill($1::oid::regclass, $2::text);
