-- Drops target $1.
select rowrelay.drop_target($1::text);
