-- Releases held changes whose time has come; see rowrelay.release_held().
--   $1 target
select rowrelay.release_held($1::integer);
