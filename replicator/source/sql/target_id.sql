-- Fails unless target $1 exists.
select rowrelay.target_id($1::text);
