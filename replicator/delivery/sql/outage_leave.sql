-- Lets another worker probe the target next.
--   $1 target
update rowrelay.trouble o set probe_until = null where o.target = $1::integer;
