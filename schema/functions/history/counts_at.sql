-- Purpose:    returns SQL for whether a change counts at a time or snapshot: it is visible in the snapshot; or it was
--             captured by that time, in a transaction of which nothing was captured later. A transaction is never shown
--             in part.
-- Parameters: at: a time, or null; seen: a snapshot, or null; unfinished: transactions captured only in part by then
-- Result:     a condition on a row of rowrelay.change, or rowrelay.truncation, that is called h
create or replace function rowrelay.counts_at(at timestamptz, seen pg_snapshot, unfinished xid8[]) returns text
language sql stable as $$
  select case
    when seen is not null then format('pg_catalog.pg_visible_in_snapshot(h.txid, %L)', seen)
    when unfinished = '{}' then format('h.captured_at <= %L', at)
    else format('(h.captured_at <= %L and h.txid <> all (%L::pg_catalog.xid8[]))', at, unfinished)
  end
$$;
