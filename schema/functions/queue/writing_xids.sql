-- Purpose:    the transactions of rowrelay.writers() by the ids that changes have. One look at the locks gives both: a
--             transaction has its id's lock before it takes the one on rowrelay.change, and keeps both to its end.
-- Result:     xids; nameless: whether there are some without an id. Such a one has ended meanwhile, or has not written
--             anything yet; but it may have taken change ids.
create or replace function rowrelay.writing_xids(out xids xid8[], out nameless boolean)
language sql volatile as $$
  with locks as materialized (
    select l.* from pg_locks l where l.granted and l.locktype in ('relation', 'transactionid')
  ), writers as (
    select distinct l.virtualtransaction
      from locks l
     where l.locktype = 'relation'
       and l.database = (select d.oid from pg_database d where d.datname = current_database())
       and l.relation = 'rowrelay.change'::regclass
       and l.mode = 'RowExclusiveLock'
  ), named as (
    -- a subtransaction has a lock too, and a later id; ids in locks are what is left of real ones after 2^32
    select w.virtualtransaction, min(now.xid + ((l.transactionid::text::bigint - now.xid + 2147483648) & 4294967295) - 2147483648) as xid
      from writers w
      cross join (select pg_snapshot_xmax(pg_current_snapshot())::text::bigint as xid) as now
      left join locks l on l.virtualtransaction = w.virtualtransaction and l.locktype = 'transactionid' and l.mode = 'ExclusiveLock'
     group by w.virtualtransaction
  )
  select coalesce(array_agg(n.xid::text::xid8 order by n.xid) filter (where n.xid is not null), '{}'),
         coalesce(bool_or(n.xid is null), false)
    from named n
$$;
