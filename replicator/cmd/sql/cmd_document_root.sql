-- The table that has all the keys of document $1.
select c.relation::oid, c.relation::text
  from rowrelay.document_source s
  join rowrelay.capture c on c.id = s.capture
 where s.document = rowrelay.document_id($1::text) and s.position = 1;
