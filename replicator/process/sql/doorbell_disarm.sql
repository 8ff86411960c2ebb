-- Whoever was woken tells the writers to stop ringing, unless somebody else has gone to sleep since.
--   $1 what doorbell_arm.sql gave
select setval('rowrelay.doorbell', 0) from rowrelay.doorbell d where d.last_value = $1::bigint;
