-- Marks what this session, or transaction, writes as written by rowrelay: a capture in the target leaves it out by
-- default, or else logs the path of what arrives. The trace is none, but makes the capture look: rowrelay.traced().
--   $1 path: captured tables (server/database/oid) with blanks between them, the last one is where it comes from; any
--      other text: not known  $2 for this transaction only
select set_config('rowrelay.origin', $1, $2::boolean), set_config('rowrelay.traceparent', '-', $2::boolean);
