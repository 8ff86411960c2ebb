-- Fails unless $1 is an interval.
select rowrelay.read_interval($1::text);
