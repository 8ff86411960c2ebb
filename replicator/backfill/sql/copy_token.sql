-- The number of a claim, as if all lanes of target $1 were claimed now: older claims that are still on their way to the
-- target are too late from then on; and the lanes.
select nextval('rowrelay.claim_token'), rowrelay.lanes_of($1::integer);
