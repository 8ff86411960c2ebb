-- A target that keeps rows' states has no use for a refused change of a row that a newer one has replaced, nor for those
-- of a table that was truncated since.
--   $1 target  $2 [{"id", "capture", "key"}] of what was delivered; key is null for a truncate
delete from rowrelay.refusal f
 using json_to_recordset($2::json) as d(id bigint, capture integer, key text)
 where f.target = $1::integer and f.capture = d.capture and (f.key = d.key or d.key is null) and f.change_id < d.id;
