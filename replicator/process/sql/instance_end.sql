-- Removes this process from the register.
--   $1 id
delete from rowrelay.instance i where i.id = $1::uuid;
