-- A new claim's number, as if all lanes of target $1 were claimed now: the target turns away older claims from then on.
-- And those lanes.
select nextval('rowrelay.claim_token'), rowrelay.lanes_of($1::integer);
