-- Changes target $1: URL $2, options $3; null leaves either as it is.
select rowrelay.set_target($1::text, $2::text, $3::jsonb);
