-- Captures a table: $1 its oid; $2 key, $3 lane, $4 only, $5 left out columns; $6 masks; $7 row filter; $8 before image;
-- $9 also what rowrelay writes; $10 seconds to wait for the lock; $11 whether to forget what was said before;
-- $12 target that it goes to; $13 whether to make the table there. Null: as it was.
select rowrelay.capture_table($1::oid::regclass, key => $2::text[], lane => $3::text[], columns => $4::text[],
                              exclude => $5::text[], mask => $6::jsonb, row_filter => $7::text, before => $8::text,
                              capture_origin => $9::boolean, lock_wait => make_interval(secs => $10::integer),
                              reset => $11::boolean, target => $12::text, create_table => $13::boolean);
