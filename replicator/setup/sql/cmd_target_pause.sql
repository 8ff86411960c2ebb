-- Pauses delivery to target $1.
select rowrelay.pause($1::text);
