-- Changes target $1: URL $2 and options $3, both null where they stay.
select rowrelay.set_target($1::text, $2::text, $3::jsonb);
