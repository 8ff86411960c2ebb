-- Changes target $1: URL $2, options $3; null leaves either as it is.
select rowrelay.set_target($1::text, url => $2::text, options => $3::jsonb);
