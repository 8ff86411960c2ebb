-- Records that this process is alive, and what it does.
--   $1 id  $2 what it does
update rowrelay.instance i
   set heartbeat_at = now(), doing = $2
 where i.id = $1::uuid;
