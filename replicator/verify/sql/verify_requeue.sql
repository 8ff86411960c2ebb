-- Queues rows of a table again for one target.
--   $1 oid of the table  $2 target  $3 keys, JSON array of texts
select rowrelay.requeue($1::oid::regclass, $2::text, array(select json_array_elements_text($3::json)));
