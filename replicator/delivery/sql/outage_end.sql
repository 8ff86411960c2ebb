-- Ends an outage; the target's new version tells all processes.
--   $1 target
with gone as (
  delete from rowrelay.trouble o where o.target = $1::integer returning o.target
), told as (
  update rowrelay.target t set version = t.version + 1 from gone where t.id = gone.target returning t.id
)
select rowrelay.ring_doorbell() from told;
