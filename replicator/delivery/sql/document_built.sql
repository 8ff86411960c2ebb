-- Removes documents that could be built now from the refused ones.
--   $1 document  $2 JSON array of keys
delete from rowrelay.refusal f
 using rowrelay.document d
 where d.target = $1::integer and f.target = d.target and f.capture = d.capture
   and f.row_hash = any (array(select rowrelay.text_hash(k) from json_array_elements_text($2::json) as k))
   and f.key = any (array(select json_array_elements_text($2::json)));
