-- Which of these changes must wait, because an older one of their key was refused.
--   $1 target  $2 [{"id", "capture", "key"}]
select distinct w.id
  from json_to_recordset($2::json) as w(id bigint, capture integer, key text)
  join rowrelay.refusal f on f.target = $1::integer and f.capture = w.capture and f.key is not distinct from w.key
   and f.change_id < w.id and f.state <> 'waiting';
