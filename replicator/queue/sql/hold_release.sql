-- Lets changes of held tables go on that it is time to try; see rowrelay.release_held().
--   $1 target
select rowrelay.release_held($1::integer);
