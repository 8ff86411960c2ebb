-- Tells writers to stop ringing, once one has woken this process, unless another process has armed the bell since.
--   $1 what doorbell_arm.sql gave
select setval('rowrelay.doorbell', 0) from rowrelay.doorbell d where d.last_value = $1::bigint;
