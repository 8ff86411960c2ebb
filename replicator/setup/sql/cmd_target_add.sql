-- Adds target $1 with URL $2 and options $3.
select rowrelay.add_target($1::text, $2::text, $3::jsonb);
