-- The number that a claim gets that begins now: larger than all that this source has given, to claims or to copies.
select nextval('rowrelay.claim_token');
