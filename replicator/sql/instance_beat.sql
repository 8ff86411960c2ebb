--   $1 id
update rowrelay.instance i set heartbeat_at = now() where i.id = $1::uuid;
