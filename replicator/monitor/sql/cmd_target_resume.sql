-- Lets deliveries to target $1 go on.
select rowrelay.resume($1::text);
