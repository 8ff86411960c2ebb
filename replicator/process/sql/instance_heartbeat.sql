-- Records that this process is alive, what it does, and whether commits wait for a standby.
--   $1 id  $2 what it does
update rowrelay.instance i
   set heartbeat_at = now(), doing = $2, synchronous = current_setting('synchronous_standby_names') <> ''
 where i.id = $1::uuid;
