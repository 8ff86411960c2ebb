-- Captures a table. Null leaves a setting as it was.
--   $1 the table (name or oid)  $2 columns of the key  $3 columns of the lane  $4 only these columns  $5 all but these
--   $6 masks  $7 row filter  $8 before image  $9 whether to capture what rowrelay itself writes  $10 seconds to wait
--   for the lock  $11 whether to reset settings that are not given  $12 target  $13 whether to make the table there
--   $14 like what  $15 per row or statement
select rowrelay.capture_table($1::regclass, key => $2::text[], lane => $3::text[], columns => $4::text[],
                              exclude => $5::text[], mask => $6::jsonb, row_filter => $7::text, before => $8::text,
                              capture_origin => $9::boolean, lock_wait => make_interval(secs => $10::integer),
                              reset => $11::boolean, target => $12::text, create_table => $13::boolean,
                              create_like => $14::text, per => $15::text);
