-- Adds a document.
--   $1 name  $2 target  $3 key  $4 query  $5 what it is built from  $6 table in the target  $7 whether to make that
--   table  $8 columns with a search index  $9 seconds to wait for locks  $10 where names are looked up
select rowrelay.add_document($1::text, $2::text, key => $3::text, query => $4::text, sources => $5::text[],
                             into_table => $6::text, create_table => $7::boolean, search => $8::text[],
                             lock_wait => make_interval(secs => $9::double precision),
                             path => coalesce($10::text, rowrelay.names_path()));
