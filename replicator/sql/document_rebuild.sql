-- Queues all documents.
--   $1 document
select rowrelay.rebuild(t.name) from rowrelay.target t where t.id = $1::integer;
