-- Purpose:    finds what was done to the sealed days of the log by other ways than rowrelay's own. What rowrelay.redact()
--             has removed, and what retention has, is no problem. `rowrelay verify-log` does the same seal by seal,
--             in transactions of their own, which is better for a large log.
-- Parameters: a head (rowrelay.seal_head()) that was kept elsewhere; without one, a log that somebody has sealed anew after he
--             altered it looks right
-- Result:     one row for each problem: changed, removed, inserted (change_id says which change), seal, redaction, head (the
--             evidence itself; detail says what); no row: all is as it was sealed
-- Errors:     that is not a head
create or replace function rowrelay.verify_log(head text default null)
returns table (problem text, day date, change_id bigint, relation text, key text, detail text)
language sql stable as $$
  select c.* from rowrelay.verify_chain(head) as c
  union all
  select v.* from rowrelay.seal s cross join lateral rowrelay.verify_seal(s.position) as v
  union all
  select u.* from rowrelay.verify_unsealed() as u
$$;
