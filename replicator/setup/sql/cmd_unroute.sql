-- No longer sends table $1 (name or oid) to target $2.
select rowrelay.unroute($1::regclass, $2::text);
