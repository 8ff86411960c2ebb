-- No longer sends table $1 (oid) to target $2, and discards what is queued there; returns how many changes.
select rowrelay.discard($1::oid::regclass, $2::text);
