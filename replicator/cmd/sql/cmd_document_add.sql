-- Adds a document.
--   $1 name  $2 target  $3 key  $4 query  $5 what it is built from  $6 table in the target  $7 whether to make that
--      table
--   $8 columns with a search index  $9 seconds to wait for locks
select rowrelay.add_document($1::text, $2::text, $3::text, $4::text, $5::text[], $6::text, $7::boolean, $8::text[],
                             make_interval(secs => $9::double precision));
