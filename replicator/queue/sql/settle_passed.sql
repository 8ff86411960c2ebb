-- Counts changes of held tables that arrived, or were refused individually. When all released ones have, more are
-- released.
--   $1 target  $2 [{"capture", "count"}]
update rowrelay.hold h
   set released = h.released - p.count,
       retry_at = case when h.released <= p.count then clock_timestamp() else h.retry_at end,
       piece = case when h.released <= p.count then least(50000, 8 * h.piece) else h.piece end
  from json_to_recordset($2::json) as p(capture integer, count bigint)
 where h.target = $1::integer and h.capture = p.capture;
