-- Adds document $1 for target $2 with key $3 and query $4, built from $5, into table $6, which is made if $7, searched by $8;
-- locks are waited for up to $9 seconds.
select rowrelay.add_document($1::text, $2::text, $3::text, $4::text, $5::text[], $6::text, $7::boolean, $8::text[],
                             make_interval(secs => $9::double precision));
