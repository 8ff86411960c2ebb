-- Drops document $1.
select rowrelay.drop_document($1::text);
