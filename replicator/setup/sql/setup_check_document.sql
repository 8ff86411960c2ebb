-- Refuses a document that cannot work.
--   $1 name  $2 target  $3 URL and  $4 options that it will have  $5 key  $6 query  $7 what it is built from
--   $8 columns with a search index  $9 where names are looked up; null: as in this session
select rowrelay.check_document($1::text, $2::text, $3::text, $4::jsonb, $5::text, $6::text, $7::text[], $8::text[],
                               coalesce($9::text, rowrelay.names_path()));
