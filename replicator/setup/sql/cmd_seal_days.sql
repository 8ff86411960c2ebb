-- Turns sealing of the log on or off: $1 whether on.
select rowrelay.seal_days($1::boolean);
