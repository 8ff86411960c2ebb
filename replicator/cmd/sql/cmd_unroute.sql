-- No longer sends table $1 (oid) to target $2.
select rowrelay.unroute($1::oid::regclass, $2::text);
