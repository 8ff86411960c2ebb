-- Resumes delivery to target $1.
select rowrelay.resume($1::text);
