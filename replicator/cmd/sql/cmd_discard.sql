-- No longer sends table $1 (oid) to target $2, and gives up what is queued there; says how many changes.
select rowrelay.discard($1::oid::regclass, $2::text);
