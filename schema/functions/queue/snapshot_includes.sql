-- Purpose:    whether a snapshot sees everything that an earlier one sees
-- Parameters: the later; the earlier
create or replace function rowrelay.snapshot_includes(later pg_snapshot, earlier pg_snapshot) returns boolean
language sql immutable as $$
  select pg_snapshot_xmax(earlier) <= pg_snapshot_xmax(later)
     and not exists (select from pg_snapshot_xip(later) as running(xid)
                     where pg_visible_in_snapshot(running.xid, earlier))
$$;
