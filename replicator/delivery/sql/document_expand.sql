-- Queues the documents to which --from queries lead from changes.
--   $1 document  $2 change ids  $3 their days
select rowrelay.expand_documents($1::integer, $2::bigint[], $3::date[]);
