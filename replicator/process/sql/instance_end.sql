--   $1 id
delete from rowrelay.instance i where i.id = $1::uuid;
