-- Queues all documents of one kind.
--   $1 document
select rowrelay.queue_all_documents($1::integer);
