-- The current snapshot, the next transaction id, and the last change id, read after both. age() knows the low half of
-- the next transaction's id; the high half is that of the snapshot's xmax, or one more.
-- Gives log_snapshot: snapshot, next, last_id
select s.snapshot,
       s.xmax + ((3 + age('3'::xid)::bigint - s.xmax) & 4294967295) as next,
       rowrelay.last_change_id() as last_id
  from (select c.snapshot, pg_snapshot_xmax(c.snapshot)::text::bigint as xmax
          from (select pg_current_snapshot() as snapshot) c) s;
