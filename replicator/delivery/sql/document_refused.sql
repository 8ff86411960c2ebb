-- Documents that were refused: each gets a change of its own in the log, so that it can be retried.
--   $1 document  $2 [{"key", "attempts", "sqlstate", "message", "kind", "detail"}]
select rowrelay.refuse_documents($1::integer, $2::json);
