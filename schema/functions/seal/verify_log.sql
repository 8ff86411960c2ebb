-- Purpose:    finds tampering with sealed days of the log. What rowrelay.redact() or retention removed is no problem.
--             `rowrelay verify-log` does the same seal by seal in short transactions, which is better for a large log.
-- Parameters: a head (rowrelay.seal_head()) that was kept elsewhere; without one, a log that was altered and then
--             sealed again looks intact
-- Result:     one row for each problem: changed, removed, inserted (change_id names the change); seal, redaction, head
--             (the evidence itself was altered; detail says how); no row: the log is as it was sealed
-- Errors:     the parameter is not a head
create or replace function rowrelay.verify_log(head text default null)
returns table (problem text, day date, change_id bigint, relation text, key text, detail text)
language sql stable as $$
  select c.* from rowrelay.verify_chain(head) as c
  union all
  select v.* from rowrelay.seal s cross join lateral rowrelay.verify_seal(s.position) as v
  union all
  select u.* from rowrelay.verify_unsealed() as u
$$;
