-- The table that has all the keys of document $1; fails unless there is that document.
select c.relation::oid, c.relation::text
  from (select rowrelay.document_id($1::text) as id offset 0) as d
  join rowrelay.document_source s on s.document = d.id and s.position = 1
  join rowrelay.capture c on c.id = s.capture;
