-- Queues documents again.
--   $1 the document  $2 keys, JSON array of texts
select rowrelay.rebuild($1::text, array(select json_array_elements_text($2::json)));
