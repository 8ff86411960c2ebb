-- Marks what this session (or transaction) writes as rowrelay's: a capture there leaves it out unless it is told not to.
--   $1 source  $2 for this transaction only
select set_config('rowrelay.origin', $1, $2::boolean);
