-- The number of a new claim: whoever locked a lane later has a larger one. And whether the target has refused changes.
--   $1 target
select nextval('rowrelay.claim_token'), clock_timestamp(), exists (select from rowrelay.refusal f where f.target = $1::integer);
