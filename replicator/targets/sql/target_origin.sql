-- Marks what this session, or transaction, writes as written by rowrelay: a capture in the target leaves it out by
-- default.
--   $1 source  $2 for this transaction only
select set_config('rowrelay.origin', $1, $2::boolean);
