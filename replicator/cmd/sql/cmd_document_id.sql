-- An error that says which documents there are, unless $1 is one.
select rowrelay.document_id($1::text);
