-- Fails, naming the documents there are, unless $1 is one.
select rowrelay.document_id($1::text);
