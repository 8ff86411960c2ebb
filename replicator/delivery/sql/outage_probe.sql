-- Whether the caller may probe a failing target. One worker at a time may, once it is due, until outage_leave.sql, or
-- for 15 s if its process dies. Otherwise in how many milliseconds it is due. No row: the target works again. A time
-- that was recorded while the clock was ahead counts as due.
--   $1 target
with taken as (
  update rowrelay.trouble o set probe_until = clock_timestamp() + interval '15 s'
   where o.target = $1::integer and (o.retry_at <= clock_timestamp() or o.last_at > clock_timestamp())
     and (o.probe_until is null
          or o.probe_until not between clock_timestamp() and clock_timestamp() + interval '15 s')
  returning o.target
)
select exists (select from taken),
       case when o.last_at > clock_timestamp() then 0
            else greatest(0, extract(epoch from o.retry_at - clock_timestamp()) * 1000) end::bigint
  from rowrelay.trouble o where o.target = $1::integer;
