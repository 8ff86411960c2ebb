-- Purpose:    SQL for whether a change was there at a moment: committed in a snapshot, or, of a time, in a transaction of
--             which nothing was captured later. No half of a transaction is ever shown.
-- Parameters: at: a time, or null; seen: a snapshot, or null; unfinished: transactions that were captured partly by then
-- Result:     a condition on a row of rowrelay.change, or rowrelay.truncation, that is called h
create or replace function rowrelay.counts_at(at timestamptz, seen pg_snapshot, unfinished xid8[]) returns text
language sql stable as $$
  select case
    when seen is not null then format('pg_catalog.pg_visible_in_snapshot(h.txid, %L)', seen)
    when unfinished = '{}' then format('h.captured_at <= %L', at)
    else format('(h.captured_at <= %L and h.txid <> all (%L::pg_catalog.xid8[]))', at, unfinished)
  end
$$;
