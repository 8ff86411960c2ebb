-- Turns the sealing of the log on or off: $1 whether.
select rowrelay.seal_days($1::boolean);
