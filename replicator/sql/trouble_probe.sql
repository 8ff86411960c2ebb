-- Whether this session may try a target that failed: one at a time may, when it is due. The lock ends with the session, or
-- with trouble_leave.sql. Else: in how many milliseconds it is due. No line: it is well again.
--   $1 target
select case when o.retry_at <= clock_timestamp() then pg_try_advisory_lock(1919907699, o.target) else false end,
       greatest(0, extract(epoch from o.retry_at - clock_timestamp()) * 1000)::bigint
  from rowrelay.trouble o where o.target = $1::integer;
